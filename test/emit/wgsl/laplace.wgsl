// Kernel "laplace" (kernels.test.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  count_1: i32,
  begin_1: i32,
  count_2: i32,
  begin_2: i32,
  stride_s_0: i32,
  stride_s_1: i32,
  stride_p_0: i32,
  stride_p_1: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> p: array<f32>;
@group(0) @binding(2) var<storage, read_write> s: array<f32>;

@compute @workgroup_size(64, 4, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var n_i = i32(invocation.z); n_i < launch.count_0; n_i += i32(workgroups.z) * 1) {
    let i = launch.begin_0 + n_i;
    for (var n_j = i32(invocation.y); n_j < launch.count_1; n_j += i32(workgroups.y) * 4) {
      let j = launch.begin_1 + n_j;
      for (var n_k = i32(invocation.x); n_k < launch.count_2; n_k += i32(workgroups.x) * 64) {
        let k = launch.begin_2 + n_k;
        s[i * launch.stride_s_0 + j * launch.stride_s_1 + k] = 6.0f * p[i * launch.stride_p_0 + j * launch.stride_p_1 + k] - p[(i + 1) * launch.stride_p_0 + j * launch.stride_p_1 + k] - p[(i - 1) * launch.stride_p_0 + j * launch.stride_p_1 + k] - p[i * launch.stride_p_0 + (j + 1) * launch.stride_p_1 + k] - p[i * launch.stride_p_0 + (j - 1) * launch.stride_p_1 + k] - p[i * launch.stride_p_0 + j * launch.stride_p_1 + k + 1] - p[i * launch.stride_p_0 + j * launch.stride_p_1 + k - 1];  // line 13
      }
    }
  }
}
