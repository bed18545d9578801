#include "train/evaluation/set_decoder.h"

#include <gtest/gtest.h>

#include "train/small_whisper.h"

namespace tutti {
namespace {

constexpr std::int64_t kSamples = 19;  // more than are decoded together
constexpr std::int64_t kWindow = 200;  // frames of small_recipe()

/// The samples of a set in batches of `together`.
NextBatch in_batches(std::int64_t together) {
  return [together, first = std::int64_t{0}]() mutable -> Result<std::optional<Batch>> {
    const auto size = std::min(together, kSamples - first);
    if (size == 0) return std::nullopt;
    auto batch = small_batch(0, kSamples, kWindow);
    Batch part = small_batch(0, size, kWindow);
    for (std::int64_t i = 0; i < size; ++i) {
      std::copy_n(batch.row(first + i), 80 * kWindow, part.row(i));
      part.samples[static_cast<std::size_t>(i)] = batch.samples[static_cast<std::size_t>(first + i)];
    }
    first += size;
    return part;
  };
}

std::vector<SampleResult> decoded_in_batches(const WhisperModel& model, const Labels& labels, std::int64_t together) {
  return decode_set(model, labels.tokenizer(), {.sot_sequence = labels.sot_sequence()}, in_batches(together)).value();
}

TEST(SetDecoder, DecodesSamplesInSetOrderForAnyBatching) {
  const auto task = small_task();
  const auto model = task->snapshot();
  const auto whole = decoded_in_batches(model, task->labels(), kSamples);
  ASSERT_EQ(std::ssize(whole), kSamples);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto& sample = whole[static_cast<std::size_t>(i)];
    EXPECT_EQ(sample.id, "sample-" + std::to_string(i));
    EXPECT_EQ(sample.hypothesis, whole[static_cast<std::size_t>(i % 4)].hypothesis) << "the same sound as " << i % 4;
    EXPECT_EQ(sample.end, 2.0);
  }
  for (const std::int64_t together : {1, 8}) {
    const auto parts = decoded_in_batches(model, task->labels(), together);
    ASSERT_EQ(parts.size(), whole.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].id, whole[i].id);
      EXPECT_EQ(parts[i].hypothesis, whole[i].hypothesis) << parts[i].id << " in batches of " << together;
    }
  }
}

TEST(SetDecoder, AnInterruptionEndsItBetweenTwoSteps) {
  const auto task = small_task();
  const auto model = task->snapshot();
  int targets = 0;
  const auto found =
      decode_set(model, task->labels().tokenizer(),
                 {.sot_sequence = task->labels().sot_sequence(), .interrupted = [&targets] { return ++targets > 3; }},
                 in_batches(8));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().fault, Fault::cancelled);
}

TEST(SetDecoder, AFeedThatBreaksIsItsError) {
  const auto task = small_task();
  const auto model = task->snapshot();
  const NextBatch broken = [given = false]() mutable -> Result<std::optional<Batch>> {
    if (std::exchange(given, true)) return fail(Fault::corrupt, "too many bad samples");
    return small_batch(0, 3, kWindow);
  };
  const auto found =
      decode_set(model, task->labels().tokenizer(), {.sot_sequence = task->labels().sot_sequence()}, broken);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "too many bad samples");
}

}  // namespace
}  // namespace tutti
