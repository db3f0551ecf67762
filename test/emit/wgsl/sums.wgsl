enable subgroups;
requires subgroup_id;
// Kernel "sums" (subgroups.test.ts), written by isoform.
struct Launch {
  league: i32,
  extent_x_1_: i32,
  stride_x_0_: i32,
  stride_x_1_: i32,
  stride_y_0_: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x_: array<f32>;
@group(0) @binding(2) var<storage, read_write> y_: array<f32>;
var<workgroup> cells_f32_3_: array<f32, 24>;

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>, @builtin(subgroup_invocation_id) subgroup_lane: u32, @builtin(subgroup_id) subgroup_number: u32, @builtin(num_subgroups) subgroup_count: u32) {
  let thread = i32(thread_number);
  let threads = 256;
  for (var n_ = workgroup.x; n_ < u32(launch.league); n_ += workgroups.x) {
    let team = i32(n_);
    var s0_ = f32();
    var s1_ = f32();
    var s2_ = f32();
    {
      var s0_part_ = 0.0f;
      var s1_part_ = 0.0f;
      var s2_part_ = 0.0f;
      for (var j_ = thread; j_ < launch.extent_x_1_; j_ += threads) {
        s0_part_ = s0_part_ + (x_[team * launch.stride_x_0_ + j_ * launch.stride_x_1_]);  // line 19
        s1_part_ = s1_part_ + (x_[team * launch.stride_x_0_ + j_ * launch.stride_x_1_ + 1]);  // line 20
        s2_part_ = s2_part_ + (x_[team * launch.stride_x_0_ + j_ * launch.stride_x_1_ + 2]);  // line 21
      }
      if subgroup_count == 8u {
        let upper_16_ = (subgroup_lane & 16u) != 0u;
        let other_ = subgroupShuffleXor(select(s2_part_, s0_part_, upper_16_), 16u);
        s0_part_ = select(s0_part_, s2_part_, upper_16_) + other_;
        let other_2_ = subgroupShuffleXor(s1_part_, 16u);
        s1_part_ = s1_part_ + other_2_;
        let upper_8_ = (subgroup_lane & 8u) != 0u;
        let other_3_ = subgroupShuffleXor(select(s1_part_, s0_part_, upper_8_), 8u);
        s0_part_ = select(s0_part_, s1_part_, upper_8_) + other_3_;
        let other_4_ = subgroupShuffleXor(s0_part_, 4u);
        s0_part_ = s0_part_ + other_4_;
        let other_5_ = subgroupShuffleXor(s0_part_, 2u);
        s0_part_ = s0_part_ + other_5_;
        let other_6_ = subgroupShuffleXor(s0_part_, 1u);
        s0_part_ = s0_part_ + other_6_;
        if subgroup_lane == 0u {
          cells_f32_3_[subgroup_number] = s0_part_;
        }
        if subgroup_lane == 8u {
          cells_f32_3_[8u + subgroup_number] = s0_part_;
        }
        if subgroup_lane == 16u {
          cells_f32_3_[16u + subgroup_number] = s0_part_;
        }
        workgroupBarrier();
        for (var first = thread * 8; first < 24; first += 2048) {
          var total = cells_f32_3_[first];
          for (var n = first + 1; n < first + 8; n += 1) { total = total + cells_f32_3_[n]; }
          cells_f32_3_[first] = total;
        }
      } else {
        if thread == 0 {
          cells_f32_3_[0] = s0_part_;
          cells_f32_3_[8] = s1_part_;
          cells_f32_3_[16] = s2_part_;
        }
        for (var turn_ = 1; turn_ < 256; turn_ += 1) {
          workgroupBarrier();
          if thread == turn_ {
            cells_f32_3_[0] = cells_f32_3_[0] + s0_part_;
            cells_f32_3_[8] = cells_f32_3_[8] + s1_part_;
            cells_f32_3_[16] = cells_f32_3_[16] + s2_part_;
          }
        }
      }
      workgroupBarrier();
      s0_ = cells_f32_3_[0];
      s1_ = cells_f32_3_[8];
      s2_ = cells_f32_3_[16];
    }
    storageBarrier();
    workgroupBarrier();
    if thread == 0 {
      y_[team * launch.stride_y_0_] = s0_;  // line 23
    }
    if thread == 0 {
      y_[team * launch.stride_y_0_ + 1] = s1_;  // line 24
    }
    if thread == 0 {
      y_[team * launch.stride_y_0_ + 2] = s2_;  // line 25
    }
    storageBarrier();
    workgroupBarrier();
  }
}
