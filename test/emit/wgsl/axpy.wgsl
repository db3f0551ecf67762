// Kernel "axpy" (kernels.test.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  scalar_a_: f32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x_: array<f32>;
@group(0) @binding(2) var<storage, read_write> y_: array<f32>;

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var n_i_ = invocation.x; n_i_ < u32(launch.count_0); n_i_ += workgroups.x * 256u) {
    let i = launch.begin_0 + i32(n_i_);
    y_[i] = launch.scalar_a_ * x_[i] + y_[i];  // line 10
  }
}
