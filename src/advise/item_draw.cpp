#include "advise/item_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "base/random/counter_random.h"

namespace tutti {
namespace {

/// Of a block. Fewer make the items of a few queues' length too even, so that queues seem to bridge more than they do;
/// with more a short run holds only a part of a block, which may be any part. By simulation of pipelines with queues of
/// 2 to 8 and variations of 0.3 to 1, over 120 to 1,200 items, 128 come nearest to independent items in the long run.
constexpr std::size_t kStrata = 128;
constexpr std::size_t kParts = 32;  // of a stratum, each in another of as many blocks

enum Purpose : std::uint64_t { kBlockOrder, kStratumOrder, kWithinStratum, kStalls };

/// 0 ... kCount - 1 in the random order of the key.
template <std::size_t kCount>
std::array<std::size_t, kCount> shuffled(CounterRandom random) {
  std::array<std::size_t, kCount> order;
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = kCount - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i) + 1))]);
  return order;
}

/// Numbers in (0, 1), stratified over every 128 and every 4,096 of them.
class StratifiedNumbers {
 public:
  explicit StratifiedNumbers(std::uint64_t key) : key_(key), within_({key, kWithinStratum}) {}

  double next() {
    const std::size_t block = at_ / kStrata, in_block = at_ % kStrata;
    if (in_block == 0) block_ = shuffled<kStrata>(CounterRandom({key_, kBlockOrder, block}));
    if (at_ % (kStrata * kParts) == 0)
      for (std::size_t stratum = 0; stratum < kStrata; ++stratum)
        parts_[stratum] = shuffled<kParts>(CounterRandom({key_, kStratumOrder, block, stratum}));
    ++at_;
    const std::size_t stratum = block_[in_block];
    const auto coarse = static_cast<double>(stratum * kParts + parts_[stratum][block % kParts]);
    // A hair from the ends: the normal distribution has no value at 0 and 1.
    return (coarse + within_.uniform(0.001, 0.999)) / (kStrata * kParts);
  }

 private:
  std::uint64_t key_;
  CounterRandom within_;
  std::size_t at_ = 0;
  std::array<std::size_t, kStrata> block_{};
  std::array<std::array<std::size_t, kParts>, kStrata> parts_{};
};

/// Where the standard normal distribution has the share `p` below it. P. J. Acklam's rational approximation, relative
/// error 1.2e-9.
double normal_quantile(double p) {
  const auto polynomial = [](double x, std::initializer_list<double> coefficients) {
    double sum = 0;
    for (const double c : coefficients) sum = sum * x + c;
    return sum;
  };
  constexpr double kTail = 0.02425;
  if (p > 1 - kTail) return -normal_quantile(1 - p);
  if (p < kTail) {
    const double q = std::sqrt(-2 * std::log(p));
    return polynomial(q, {-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734,
                          4.374664141464968, 2.938163982698783}) /
           polynomial(q, {7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1});
  }
  const double q = p - 0.5, r = q * q;
  return q *
         polynomial(r, {-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.383577518672690e2,
                        -3.066479806614716e1, 2.506628277459239}) /
         polynomial(r, {-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1,
                        -1.328068155288572e1, 1});
}

/// Which items stall: of every kTogether / share items kTogether, at random ones of them. So their number is even over
/// time, and the gaps between them are not.
class Stalls {
 public:
  Stalls(double share, std::uint64_t key) : share_(share), random_({key, kStalls}) {}

  bool next() {
    const auto item = static_cast<double>(item_++);
    if (share_ <= 0) return false;
    if (at_ == kTogether) draw();
    if (item < stalling_[at_]) return false;
    ++at_;
    return true;
  }

 private:
  static constexpr std::size_t kTogether = 4;

  void draw() {
    for (double& stalling : stalling_) stalling = (drawn_ + random_.uniform() * kTogether) / share_;
    std::ranges::sort(stalling_);
    for (double& stalling : stalling_) stalling = std::trunc(stalling);
    drawn_ += kTogether;
    at_ = 0;
  }

  double share_;
  CounterRandom random_;
  std::size_t item_ = 0;
  double drawn_ = 0;                          // stalls
  std::array<double, kTogether> stalling_{};  // items, ascending; where two are the same, the second takes the next
  std::size_t at_ = kTogether;
};

}  // namespace

std::vector<ItemTime> draw_items(const TimesDescription& description, std::size_t count, std::uint64_t key) {
  const double squared = std::log1p(description.variation * description.variation);
  const double spread = std::sqrt(squared);
  StratifiedNumbers numbers(key);
  Stalls stalls(description.stall_share, key);
  std::vector<ItemTime> items(count);
  for (ItemTime& item : items) {
    item.work = description.mean * std::exp(spread * normal_quantile(numbers.next()) - squared / 2);
    if (stalls.next()) item.stall = description.stall;
  }
  return items;
}

}  // namespace tutti
