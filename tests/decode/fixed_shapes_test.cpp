#include "decode/fixed_shapes.h"

#include <gtest/gtest.h>

#include <map>

#include "decode/batcher.h"
#include "decode/formula_stepper.h"

namespace tutti {
namespace {

const DecodingTokens kTokens{.eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

/// A formula that records the requested shapes.
struct Recorder : FormulaStepper {
  Recorder(std::int32_t slots, std::vector<std::vector<std::size_t>>& shapes)
      : FormulaStepper(slots, 400, kTokens, true), shapes_(shapes) {}
  at::Tensor decode(std::span<const SequenceStep> sequences) override {
    shapes_.emplace_back();
    for (const auto& sequence : sequences) shapes_.back().push_back(sequence.tokens.size());
    return FormulaStepper::decode(sequences);
  }
  std::vector<std::vector<std::size_t>>& shapes_;
};

SequenceRequest job_of(std::uint64_t number) {
  SequenceRequest job{.request = number, .window = formula_window(number + 1), .max_tokens = 20};
  job.prompt.assign(1 + number % 4, static_cast<std::int32_t>(number));
  job.decoding.beam_size = number % 3 == 0 ? 4 : 0;
  return job;
}

std::map<std::uint64_t, std::vector<std::int32_t>> run(Stepper& stepper, std::uint64_t jobs) {
  Batcher batcher(kTokens, 64, Clock::real());
  for (std::uint64_t number = 0; number < jobs; ++number) batcher.submit(job_of(number));
  std::map<std::uint64_t, std::vector<std::int32_t>> texts;
  while (!batcher.idle()) {
    for (auto& finished : batcher.step(stepper)) texts[finished.request] = finished.outcome.value().tokens;
  }
  return texts;
}

TEST(FixedShapes, EveryCallIsOnePromptOrEightTokensAndTheTextsStayTheSame) {
  std::vector<std::vector<std::size_t>> shapes;
  FixedShapeStepper fixed(std::make_unique<Recorder>(13 + FixedShapeStepper::kRows, shapes));
  EXPECT_EQ(fixed.slots(), 13);
  FormulaStepper plain(13, 400, kTokens, true);
  EXPECT_EQ(run(fixed, 9), run(plain, 9));
  const std::vector<std::size_t> step(FixedShapeStepper::kRows, 1);
  EXPECT_GT(shapes.size(), 20U);
  for (const auto& shape : shapes) EXPECT_TRUE(shape.size() == 1 || shape == step) << shape.size();
}

}  // namespace
}  // namespace tutti
