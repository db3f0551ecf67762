// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  chunks: i32,
  count_0: i32,
  begin_0: i32,
  partials_s: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> temporary: array<u32>;
var<workgroup> s_cells: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn set_temporary_f32(i: i32, value: f32) { temporary[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  var s: f32 = 0.0f;
  let lane = thread % 8;
  let chunk = i32(workgroup.y * workgroups.x + workgroup.x) * 32 + thread / 8;
  if chunk < launch.chunks {
    let start = chunk * 256;
    let stop = min(start + 256, launch.count_0);
    for (var n = start + lane; n < stop; n += 8) {
      let i = launch.begin_0 + n;
      s = rounded(s + rounded(x[i] * y[i]));  // line 16
    }
  }
  s_cells[thread] = s;
  workgroupBarrier();
  if thread % 8 < 4 {
    s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 4]);
  }
  workgroupBarrier();
  if thread % 8 < 2 {
    s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 2]);
  }
  workgroupBarrier();
  if thread % 8 < 1 {
    s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 1]);
  }
  workgroupBarrier();
  if lane == 0 && chunk < launch.chunks { set_temporary_f32(launch.partials_s + chunk, s_cells[thread]); }
}

// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  partials_s: i32,
  folded_s: i32,
  count: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> temporary: array<u32>;
var<workgroup> s_cells: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn temporary_f32(i: i32) -> f32 { return bitcast<f32>(temporary[i]); }
fn set_temporary_f32(i: i32, value: f32) { temporary[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  let chunk = i32(workgroup.y * workgroups.x + workgroup.x) * 32 + thread / 8;
  {
    var total = 0.0f;
    let stop = min((chunk + 1) * 256, launch.count);
    for (var n = chunk * 256 + thread % 8; n < stop; n += 8) {
      total = rounded(total + temporary_f32(launch.partials_s + n));
    }
    s_cells[thread] = total;
    workgroupBarrier();
    if thread % 8 < 4 {
      s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 4]);
    }
    workgroupBarrier();
    if thread % 8 < 2 {
      s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 2]);
    }
    workgroupBarrier();
    if thread % 8 < 1 {
      s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 1]);
    }
    workgroupBarrier();
    if thread % 8 == 0 && chunk * 256 < launch.count { set_temporary_f32(launch.folded_s + chunk, s_cells[thread]); }
  }
}

// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  partials_s: i32,
  folded_s: i32,
  count: i32,
  results: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> temporary: array<u32>;
var<workgroup> s_cells: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn temporary_f32(i: i32) -> f32 { return bitcast<f32>(temporary[i]); }
fn set_temporary_f32(i: i32, value: f32) { temporary[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32) {
  let thread = i32(thread_number);
  {
    var source = launch.partials_s;
    var folded = launch.folded_s;
    var count = launch.count;
    while count > 1 {
      let chunks = (count + 255) / 256;
      for (var first = 0; first < chunks; first += 32) {
        let chunk = first + thread / 8;
        {
          var total = 0.0f;
          let stop = min((chunk + 1) * 256, count);
          for (var n = chunk * 256 + thread % 8; n < stop; n += 8) {
            total = rounded(total + temporary_f32(source + n));
          }
          s_cells[thread] = total;
          workgroupBarrier();
          if thread % 8 < 4 {
            s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 4]);
          }
          workgroupBarrier();
          if thread % 8 < 2 {
            s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 2]);
          }
          workgroupBarrier();
          if thread % 8 < 1 {
            s_cells[thread] = rounded(s_cells[thread] + s_cells[thread + 1]);
          }
          workgroupBarrier();
          if thread % 8 == 0 && chunk * 256 < count { set_temporary_f32(folded + chunk, s_cells[thread]); }
        }
      }
      storageBarrier();
      let turn = folded;
      folded = source;
      source = turn;
      count = chunks;
    }
    if thread == 0 {
      var result = 0.0f;
      if count == 1 { result = temporary_f32(source); }
      set_temporary_f32(launch.results, result);
    }
  }
}
