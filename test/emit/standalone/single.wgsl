// Kernel "single" (cases.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  count_1: i32,
  begin_1: i32,
  stride_y_0: i32,
  scalar_a: f32,
  stride_x_0: i32,
  stride_flags_0: i32,
  partials_s: i32,
  partials_most: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> flags: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> h: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> temporary: array<u32>;
var<workgroup> cells_f32_0: array<f32, 256>;
var<workgroup> cells_i32_1: array<i32, 256>;

fn set_flags_u8(i: i32, value: i32) {
  let shift = u32(i & 3) * 8u;
  atomicAnd(&flags[i >> 2u], ~(255u << shift));
  atomicOr(&flags[i >> 2u], (u32(value) & 255u) << shift);
}
fn sum_into_h(i: i32, value: f32) {
  var seen = atomicLoad(&h[i]);
  loop {
    let wanted = bitcast<u32>((bitcast<f32>(seen)) + value);
    if wanted == seen { break; }
    let found = atomicCompareExchangeWeak(&h[i], seen, wanted);
    if found.exchanged { break; }
    seen = found.old_value;
  }
}
fn set_temporary_f32(i: i32, value: f32) { temporary[i] = bitcast<u32>(value); }
fn set_temporary_i32(i: i32, value: i32) { temporary[i] = bitcast<u32>(value); }

@compute @workgroup_size(64, 4, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  var s: f32 = 0.0f;
  var most: i32 = i32(-2147483648);
  for (var n_i = i32(invocation.y); n_i < launch.count_0; n_i += i32(workgroups.y) * 4) {
    let i = launch.begin_0 + n_i;
    for (var n_j = i32(invocation.x); n_j < launch.count_1; n_j += i32(workgroups.x) * 64) {
      let j = launch.begin_1 + n_j;
      y[i * launch.stride_y_0 + j] = launch.scalar_a * x[i * launch.stride_x_0 + j] + y[i * launch.stride_y_0 + j];  // line 83
      set_flags_u8(i * launch.stride_flags_0 + j, (i + j) % 5);  // line 84
      sum_into_h((i + j) % 3, x[i * launch.stride_x_0 + j]);  // line 85
      s = s + (y[i * launch.stride_y_0 + j]);  // line 86
      most = max(most, (i * j));  // line 87
    }
  }
  cells_f32_0[thread] = s;
  workgroupBarrier();
  if thread % 256 < 128 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 128];
  }
  workgroupBarrier();
  if thread % 256 < 64 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 64];
  }
  workgroupBarrier();
  if thread % 256 < 32 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 32];
  }
  workgroupBarrier();
  if thread % 256 < 16 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 16];
  }
  workgroupBarrier();
  if thread % 256 < 8 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 8];
  }
  workgroupBarrier();
  if thread % 256 < 4 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 4];
  }
  workgroupBarrier();
  if thread % 256 < 2 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 2];
  }
  workgroupBarrier();
  if thread % 256 < 1 {
    cells_f32_0[thread] = cells_f32_0[thread] + cells_f32_0[thread + 1];
  }
  workgroupBarrier();
  cells_i32_1[thread] = most;
  workgroupBarrier();
  if thread % 256 < 128 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 128]);
  }
  workgroupBarrier();
  if thread % 256 < 64 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 64]);
  }
  workgroupBarrier();
  if thread % 256 < 32 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 32]);
  }
  workgroupBarrier();
  if thread % 256 < 16 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 16]);
  }
  workgroupBarrier();
  if thread % 256 < 8 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 8]);
  }
  workgroupBarrier();
  if thread % 256 < 4 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 4]);
  }
  workgroupBarrier();
  if thread % 256 < 2 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 2]);
  }
  workgroupBarrier();
  if thread % 256 < 1 {
    cells_i32_1[thread] = max(cells_i32_1[thread], cells_i32_1[thread + 1]);
  }
  workgroupBarrier();
  if thread == 0 { set_temporary_f32(launch.partials_s + i32((workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x), cells_f32_0[0]); }
  if thread == 0 { set_temporary_i32(launch.partials_most + i32((workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x), cells_i32_1[0]); }
}
