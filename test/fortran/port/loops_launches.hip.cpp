extern "C" void four_launch_(hipStream_t stream_, int m_, int n_, int c_, bool flag_, int b_lower1_, int b_lower2_, int b_extent1_, int b_extent2_, const double *a_, const double *b_, double *total_, int *most_, int *found_)
{
  const long long l_trips_ = f::trips(2);
  const long long k_trips_ = f::trips(((-2) / (-1)));
  const long long j_trips_ = f::trips(m_ + 1);
  const long long i_trips_ = f::trips(n_ / 2);
  double total_part_ = 0;
  int most_part_ = 0;
  int found_part_ = 0;
  int found_least_part_ = 0;
  int found_assigned_part_ = 0;
  f::check(four_::four_launch(&total_part_, &most_part_, m_, n_, c_, a_, 1, 2, m_ + 2, n_ + 1, (long long)2 * (m_ + 2) * (n_ + 1), (long long)(m_ + 2) * (n_ + 1), (long long)(n_ + 1), flag_, b_, b_extent2_, b_extent1_, (long long)b_extent1_, b_lower1_, b_lower2_, &found_part_, &found_least_part_, &found_assigned_part_, 0, l_trips_, 0, k_trips_, 0, j_trips_, 0, i_trips_, stream_));
  *total_ = *total_ + total_part_;
  *most_ = f::max(*most_, most_part_);
  f::agreed(found_assigned_part_, found_least_part_, found_part_, "loops.F90:33: found");
  if (found_assigned_part_ > 0) *found_ = found_part_;
}

extern "C" void two_launch_(hipStream_t stream_, int m_, int n_, float s_, int mask_extent1_, int mask_extent2_, const int *mask_, double *a_)
{
  const long long j_trips_ = f::trips(m_);
  const long long i_trips_ = f::trips(((-n_) / (-1)));
  f::check(two_::two_launch(m_, n_, mask_, mask_extent2_, mask_extent1_, (long long)mask_extent1_, s_, a_, m_, n_, (long long)n_, 0, j_trips_, 0, i_trips_, stream_));
}

extern "C" void one_launch_(hipStream_t stream_, int k_, int n_, const int *x_, int *low_, int *bits_, int *last_)
{
  const long long i_trips_ = f::trips((((n_ - k_) + k_) / k_));
  int low_part_ = 0;
  int bits_part_ = 0;
  int last_part_ = 0;
  int last_assigned_part_ = 0;
  f::check(one_::one_launch(&low_part_, &bits_part_, k_, n_, x_, n_, &last_part_, &last_assigned_part_, 0, i_trips_, stream_));
  *low_ = f::min(*low_, low_part_);
  *bits_ = *bits_ * bits_part_;
  if (last_assigned_part_ > 0) *last_ = last_part_;
}

extern "C" void loops_synchronise_() { f::check(hipDeviceSynchronize()); }
