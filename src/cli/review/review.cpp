#include "cli/review/review.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/guarded.h"
#include "cli/review/examine.h"
#include "device/machine.h"

namespace tutti {
namespace {

/// What all threads put their answers into.
struct Gathered {
  ReviewList list;
  std::optional<Error> first_error{};

  std::size_t done() const { return list.looked_at + list.not_read.size(); }
};

void take_in(Gathered& gathered, Result<Examined> examined) {
  ReviewList& list = gathered.list;
  if (examined) {
    ++list.looked_at;
    list.without_audio += examined->has_vad ? 0 : 1;
    list.without_speech += examined->without_speech ? 1 : 0;
    if (examined->doubtful) list.recordings.push_back(std::move(*examined->doubtful));
  } else {
    list.not_read.push_back(examined.error().text());
    if (!gathered.first_error) gathered.first_error = examined.error();
  }
}

bool is_stopped(const ReviewOptions& options) {
  return options.stopped && options.stopped();
}

tl::unexpected<Error> stopped_review() {
  return fail(Fault::cancelled, "the review was stopped", "'tutti review' makes it later");
}

/// The recording with the surest finding first; among equals the one with more of them.
void sort_worst_first(ReviewList& list) {
  std::sort(list.recordings.begin(), list.recordings.end(), [](const ReviewRecording& a, const ReviewRecording& b) {
    const double worst_a = a.findings.front().severity, worst_b = b.findings.front().severity;
    if (worst_a != worst_b) return worst_a > worst_b;
    return a.doubt != b.doubt ? a.doubt > b.doubt : a.name < b.name;
  });
  std::sort(list.not_read.begin(), list.not_read.end());
}

}  // namespace

Result<ReviewList> write_review(std::span<const ReviewInput> inputs, const ReviewOptions& options) {
  Guarded<Gathered> gathered;
  {
    std::atomic<std::size_t> next = 0;
    const int wanted = options.threads > 0 ? options.threads : read_cpu().cores;
    std::vector<std::jthread> threads;
    for (int i = std::min(wanted, static_cast<int>(inputs.size())); i > 0; --i)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < inputs.size(); at = next++) {
          auto examined = is_stopped(options) ? Result<Examined>(stopped_review()) : examine(inputs[at], options);
          gathered.change([&](Gathered& all) { take_in(all, std::move(examined)); });
        }
      });
    for (std::size_t reported = 0; reported < inputs.size();) {
      reported = gathered.wait([&](const Gathered& all) { return all.done() > reported; },
                           [](const Gathered& all) { return all.done(); });
      if (options.on_progress) options.on_progress(reported);
    }
  }
  if (is_stopped(options)) return stopped_review();
  Gathered all = gathered.with([](Gathered& it) { return std::move(it); });
  if (all.list.looked_at == 0 && all.first_error) return tl::unexpected(*all.first_error);
  sort_worst_first(all.list);
  auto written = options.write(options.out / kReviewPages[0], review_csv(all.list));
  if (written) written = options.write(options.out / kReviewPages[1], review_html(all.list));
  if (!written) return tl::unexpected(written.error());
  return std::move(all.list);
}

}  // namespace tutti
