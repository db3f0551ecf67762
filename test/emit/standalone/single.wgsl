// Kernel "single" (cases.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  count_1: i32,
  begin_1: i32,
  stride_y_0_: i32,
  scalar_a_: f32,
  stride_x_0_: i32,
  stride_flags_0_: i32,
  partials_s_: i32,
  partials_most_: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x_: array<f32>;
@group(0) @binding(2) var<storage, read_write> y_: array<f32>;
@group(0) @binding(3) var<storage, read_write> flags_: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> h_: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> temporary_: array<u32>;
var<workgroup> cells_f32_0_: array<f32, 256>;
var<workgroup> cells_i32_1_: array<i32, 256>;

fn flags__set_u8(i: i32, value: i32) {
  let shift = (u32(i & 3) * 8u);
  atomicAnd(&flags_[i >> 2u], ~(255u << shift));
  atomicOr(&flags_[i >> 2u], (u32(value) & 255u) << shift);
}
fn h__fold_sum(i: i32, value: f32) {
  var seen = atomicLoad(&h_[i]);
  loop {
    let wanted = bitcast<u32>((bitcast<f32>(seen)) + value);
    if wanted == seen { break; }
    let found = atomicCompareExchangeWeak(&h_[i], seen, wanted);
    if found.exchanged { break; }
    seen = found.old_value;
  }
}
fn temporary__set_f32(i: i32, value: f32) { temporary_[i] = bitcast<u32>(value); }
fn temporary__set_i32(i: i32, value: i32) { temporary_[i] = bitcast<u32>(value); }

@compute @workgroup_size(64, 4, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  let thread = i32(thread_number);
  var s_: f32 = 0.0f;
  var most_: i32 = i32(-2147483648);
  for (var n_i_ = invocation.y; n_i_ < u32(launch.count_0); n_i_ += workgroups.y * 4u) {
    let i = launch.begin_0 + i32(n_i_);
    for (var n_j_ = invocation.x; n_j_ < u32(launch.count_1); n_j_ += workgroups.x * 64u) {
      let j = launch.begin_1 + i32(n_j_);
      y_[i * launch.stride_y_0_ + j] = launch.scalar_a_ * x_[i * launch.stride_x_0_ + j] + y_[i * launch.stride_y_0_ + j];  // line 89
      flags__set_u8(i * launch.stride_flags_0_ + j, (i + j) % 5);  // line 90
      h__fold_sum((i + j) % 3, x_[i * launch.stride_x_0_ + j]);  // line 91
      s_ = s_ + (y_[i * launch.stride_y_0_ + j]);  // line 92
      most_ = max(most_, (i * j));  // line 93
    }
  }
  cells_f32_0_[thread] = s_;
  workgroupBarrier();
  if thread % 256 < 128 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 128];
  }
  workgroupBarrier();
  if thread % 256 < 64 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 64];
  }
  workgroupBarrier();
  if thread % 256 < 32 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 32];
  }
  workgroupBarrier();
  if thread % 256 < 16 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 16];
  }
  workgroupBarrier();
  if thread % 256 < 8 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 8];
  }
  workgroupBarrier();
  if thread % 256 < 4 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 4];
  }
  workgroupBarrier();
  if thread % 256 < 2 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 2];
  }
  workgroupBarrier();
  if thread % 256 < 1 {
    cells_f32_0_[thread] = cells_f32_0_[thread] + cells_f32_0_[thread + 1];
  }
  workgroupBarrier();
  cells_i32_1_[thread] = most_;
  workgroupBarrier();
  if thread % 256 < 128 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 128]);
  }
  workgroupBarrier();
  if thread % 256 < 64 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 64]);
  }
  workgroupBarrier();
  if thread % 256 < 32 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 32]);
  }
  workgroupBarrier();
  if thread % 256 < 16 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 16]);
  }
  workgroupBarrier();
  if thread % 256 < 8 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 8]);
  }
  workgroupBarrier();
  if thread % 256 < 4 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 4]);
  }
  workgroupBarrier();
  if thread % 256 < 2 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 2]);
  }
  workgroupBarrier();
  if thread % 256 < 1 {
    cells_i32_1_[thread] = max(cells_i32_1_[thread], cells_i32_1_[thread + 1]);
  }
  workgroupBarrier();
  if thread == 0 { temporary__set_f32(launch.partials_s_ + i32((workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x), cells_f32_0_[0]); }
  if thread == 0 { temporary__set_i32(launch.partials_most_ + i32((workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x), cells_i32_1_[0]); }
}
