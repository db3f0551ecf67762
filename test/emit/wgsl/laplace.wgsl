// Kernel "laplace" (kernels.test.ts), written by isoform.
struct Launch {
  count_0: i32,
  begin_0: i32,
  count_1: i32,
  begin_1: i32,
  count_2: i32,
  begin_2: i32,
  stride_s_0_: i32,
  stride_s_1_: i32,
  stride_p_0_: i32,
  stride_p_1_: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> p_: array<f32>;
@group(0) @binding(2) var<storage, read_write> s_: array<f32>;

@compute @workgroup_size(64, 4, 1)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var n_i_ = invocation.z; n_i_ < u32(launch.count_0); n_i_ += workgroups.z) {
    let i = launch.begin_0 + i32(n_i_);
    for (var n_j_ = invocation.y; n_j_ < u32(launch.count_1); n_j_ += workgroups.y * 4u) {
      let j = launch.begin_1 + i32(n_j_);
      for (var n_k_ = invocation.x; n_k_ < u32(launch.count_2); n_k_ += workgroups.x * 64u) {
        let k = launch.begin_2 + i32(n_k_);
        s_[i * launch.stride_s_0_ + j * launch.stride_s_1_ + k] = 6.0f * p_[i * launch.stride_p_0_ + j * launch.stride_p_1_ + k] - p_[(i + 1) * launch.stride_p_0_ + j * launch.stride_p_1_ + k] - p_[(i - 1) * launch.stride_p_0_ + j * launch.stride_p_1_ + k] - p_[i * launch.stride_p_0_ + (j + 1) * launch.stride_p_1_ + k] - p_[i * launch.stride_p_0_ + (j - 1) * launch.stride_p_1_ + k] - p_[i * launch.stride_p_0_ + j * launch.stride_p_1_ + k + 1] - p_[i * launch.stride_p_0_ + j * launch.stride_p_1_ + k - 1];  // line 13
      }
    }
  }
}
