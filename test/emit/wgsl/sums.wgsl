enable subgroups;
requires subgroup_id;
// Kernel "sums" (subgroups.test.ts), written by isoform.
struct Launch {
  league: i32,
  extent_x_1: i32,
  stride_x_0: i32,
  stride_x_1: i32,
  stride_y_0: i32,
}
@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> cells_f32_3: array<f32, 24>;

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(local_invocation_index) thread_number: u32, @builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>, @builtin(subgroup_invocation_id) subgroup_lane: u32, @builtin(subgroup_id) subgroup_number: u32, @builtin(num_subgroups) subgroup_count: u32) {
  let thread = i32(thread_number);
  let threads = 256;
  for (var team = i32(workgroup.x); team < launch.league; team += i32(workgroups.x)) {
    var s0_: f32;
    var s1_: f32;
    var s2_: f32;
    {
      var s0__part = 0.0f;
      var s1__part = 0.0f;
      var s2__part = 0.0f;
      for (var j = thread; j < launch.extent_x_1; j += threads) {
        s0__part = s0__part + (x[team * launch.stride_x_0 + j * launch.stride_x_1]);  // line 19
        s1__part = s1__part + (x[team * launch.stride_x_0 + j * launch.stride_x_1 + 1]);  // line 20
        s2__part = s2__part + (x[team * launch.stride_x_0 + j * launch.stride_x_1 + 2]);  // line 21
      }
      if subgroup_count == 8u {
        let upper_16 = (subgroup_lane & 16u) != 0u;
        let other = subgroupShuffleXor(select(s2__part, s0__part, upper_16), 16u);
        s0__part = select(s0__part, s2__part, upper_16) + other;
        let other_2 = subgroupShuffleXor(s1__part, 16u);
        s1__part = s1__part + other_2;
        let upper_8 = (subgroup_lane & 8u) != 0u;
        let other_3 = subgroupShuffleXor(select(s1__part, s0__part, upper_8), 8u);
        s0__part = select(s0__part, s1__part, upper_8) + other_3;
        let other_4 = subgroupShuffleXor(s0__part, 4u);
        s0__part = s0__part + other_4;
        let other_5 = subgroupShuffleXor(s0__part, 2u);
        s0__part = s0__part + other_5;
        let other_6 = subgroupShuffleXor(s0__part, 1u);
        s0__part = s0__part + other_6;
        if subgroup_lane == 0u {
          cells_f32_3[subgroup_number] = s0__part;
        }
        if subgroup_lane == 8u {
          cells_f32_3[8u + subgroup_number] = s0__part;
        }
        if subgroup_lane == 16u {
          cells_f32_3[16u + subgroup_number] = s0__part;
        }
        workgroupBarrier();
        for (var first = thread * 8; first < 24; first += 2048) {
          var total = cells_f32_3[first];
          for (var n = first + 1; n < first + 8; n += 1) { total = total + cells_f32_3[n]; }
          cells_f32_3[first] = total;
        }
      } else {
        if thread == 0 {
          cells_f32_3[0] = s0__part;
          cells_f32_3[8] = s1__part;
          cells_f32_3[16] = s2__part;
        }
        for (var turn = 1; turn < 256; turn += 1) {
          workgroupBarrier();
          if thread == turn {
            cells_f32_3[0] = cells_f32_3[0] + s0__part;
            cells_f32_3[8] = cells_f32_3[8] + s1__part;
            cells_f32_3[16] = cells_f32_3[16] + s2__part;
          }
        }
      }
      workgroupBarrier();
      s0_ = cells_f32_3[0];
      s1_ = cells_f32_3[8];
      s2_ = cells_f32_3[16];
    }
    storageBarrier();
    workgroupBarrier();
    if thread == 0 {
      y[team * launch.stride_y_0] = s0_;  // line 23
    }
    if thread == 0 {
      y[team * launch.stride_y_0 + 1] = s1_;  // line 24
    }
    if thread == 0 {
      y[team * launch.stride_y_0 + 2] = s2_;  // line 25
    }
    storageBarrier();
    workgroupBarrier();
  }
}
