// Draws the batches of an epoch from a set of recordings with text, and shows what the loop's time went into.
//
//   draw_batches FOLDER SET      FOLDER has the programs `tutti` and `tutti-engine`
#include <cstdio>
#include <numeric>
#include <span>

#include "base/program_paths.h"
#include "tutti/feed.h"
#include "tutti/profile.h"

namespace {

int fail_with(const tutti::Error& error) {
  std::fprintf(stderr, "draw_batches: %s\n", error.text().c_str());
  return 1;
}

/// In place of a step of training: the mean of the batch's features.
double mean_of(const tutti::Batch& batch) {
  const std::span all(batch.row(0), static_cast<std::size_t>(batch.size() * batch.n_mels * batch.frames));
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: draw_batches FOLDER SET\n"), 2;
  tutti::set_program_paths(tutti::ProgramPaths::in(argv[1]));

  auto feed = tutti::Feed::open({.data = argv[2], .seed = 7, .epochs = 1, .batch_size = 2});
  if (!feed) return fail_with(feed.error());
  tutti::LoopProfile loop("batches");
  for (;;) {
    tutti::Result<std::optional<tutti::Batch>> batch;
    loop.measure("draw", [&] { batch = feed->next(); });
    if (!batch) return fail_with(batch.error());
    if (!*batch) break;
    double mean = 0;
    loop.measure("step", [&] { mean = mean_of(**batch); });
    std::printf("batch %d: [%d, %d, %d], mean %.2f\n", static_cast<int>((*batch)->index),
                static_cast<int>((*batch)->size()), static_cast<int>((*batch)->n_mels),
                static_cast<int>((*batch)->frames), mean);
    for (const auto& sample : (*batch)->samples) std::printf("  %s: %s\n", sample.id.c_str(), sample.text.c_str());
  }
  const auto profile = loop.profile();
  if (!profile) return fail_with(profile.error());
  std::printf("%lld samples, %.1f batches a second; limited by: %s\n",
              static_cast<long long>(feed->samples_per_epoch()), profile->items_per_s(),
              profile->limit().value_or("no stage").c_str());
  return 0;
}
