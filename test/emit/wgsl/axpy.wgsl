// Kernel "axpy" (kernels.test.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  scalar_a: f32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var n_i = i32(invocation.x); n_i < launch.count_0; n_i += i32(workgroups.x) * 256) {
    let i = launch.begin_0 + n_i;
    y[i] = launch.scalar_a * x[i] + y[i];  // line 10
  }
}
