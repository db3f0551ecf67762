// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  chunks: i32,
  count_0: i32,
  begin_0: i32,
  partials_s_: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x_: array<f32>;
@group(0) @binding(2) var<storage, read> y_: array<f32>;
@group(0) @binding(3) var<storage, read_write> temporary_: array<u32>;
var<workgroup> s_cells_: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn temporary__set_f32(i: i32, value: f32) { temporary_[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  var s_: f32 = 0.0f;
  let lane_ = thread % 8;
  let chunk_ = i32(workgroup.y * workgroups.x + workgroup.x) * 32 + thread / 8;
  if chunk_ < launch.chunks {
    let start_ = u32(chunk_) * 256u;
    let stop_ = min(start_ + 256u, u32(launch.count_0));
    for (var n_ = start_ + u32(lane_); n_ < stop_; n_ += 8u) {
      let i = launch.begin_0 + i32(n_);
      s_ = rounded(s_ + rounded(x_[i] * y_[i]));  // line 16
    }
  }
  s_cells_[thread] = s_;
  workgroupBarrier();
  if thread % 8 < 4 {
    s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 4]);
  }
  workgroupBarrier();
  if thread % 8 < 2 {
    s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 2]);
  }
  workgroupBarrier();
  if thread % 8 < 1 {
    s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 1]);
  }
  workgroupBarrier();
  if lane_ == 0 && chunk_ < launch.chunks { temporary__set_f32(launch.partials_s_ + chunk_, s_cells_[thread]); }
}

// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  partials_s_: i32,
  folded_s_: i32,
  count: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> temporary_: array<u32>;
var<workgroup> s_cells_: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn temporary__f32(i: i32) -> f32 { return bitcast<f32>(temporary_[i]); }
fn temporary__set_f32(i: i32, value: f32) { temporary_[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  let chunk = i32(workgroup.y * workgroups.x + workgroup.x) * 32 + thread / 8;
  {
    var total = 0.0f;
    let stop = min((chunk + 1) * 256, launch.count);
    for (var n = chunk * 256 + thread % 8; n < stop; n += 8) {
      total = rounded(total + temporary__f32(launch.partials_s_ + n));
    }
    s_cells_[thread] = total;
    workgroupBarrier();
    if thread % 8 < 4 {
      s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 4]);
    }
    workgroupBarrier();
    if thread % 8 < 2 {
      s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 2]);
    }
    workgroupBarrier();
    if thread % 8 < 1 {
      s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 1]);
    }
    workgroupBarrier();
    if thread % 8 == 0 && chunk * 256 < launch.count { temporary__set_f32(launch.folded_s_ + chunk, s_cells_[thread]); }
  }
}

// Kernel "dot" (kernels.test.ts), written by isoform.
struct Launch {
  partials_s_: i32,
  folded_s_: i32,
  count: i32,
  results: i32,
  zero: u32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read_write> temporary_: array<u32>;
var<workgroup> s_cells_: array<f32, 256>;

/* x, through bits that no compiler can follow: what is done with it cannot be contracted or regrouped with what made it. */
fn rounded(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ launch.zero); }

fn temporary__f32(i: i32) -> f32 { return bitcast<f32>(temporary_[i]); }
fn temporary__set_f32(i: i32, value: f32) { temporary_[i] = bitcast<u32>(value); }

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32) {
  let thread = i32(thread_number);
  {
    var source = launch.partials_s_;
    var folded = launch.folded_s_;
    var count = launch.count;
    while count > 1 {
      let chunks = (count + 255) / 256;
      for (var first = 0; first < chunks; first += 32) {
        let chunk = first + thread / 8;
        {
          var total = 0.0f;
          let stop = min((chunk + 1) * 256, count);
          for (var n = chunk * 256 + thread % 8; n < stop; n += 8) {
            total = rounded(total + temporary__f32(source + n));
          }
          s_cells_[thread] = total;
          workgroupBarrier();
          if thread % 8 < 4 {
            s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 4]);
          }
          workgroupBarrier();
          if thread % 8 < 2 {
            s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 2]);
          }
          workgroupBarrier();
          if thread % 8 < 1 {
            s_cells_[thread] = rounded(s_cells_[thread] + s_cells_[thread + 1]);
          }
          workgroupBarrier();
          if thread % 8 == 0 && chunk * 256 < count { temporary__set_f32(folded + chunk, s_cells_[thread]); }
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
      if count == 1 { result = temporary__f32(source); }
      temporary__set_f32(launch.results, result);
    }
  }
}
