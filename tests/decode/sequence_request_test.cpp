#include "decode/sequence_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tutti {
namespace {

constexpr WhisperDims kDims{.n_vocab = 100, .n_text_ctx = 8};

std::string complaint(const std::function<void(SequenceRequest&)>& spoil) {
  SequenceRequest job{.prompt = {1, 2, 3}, .sot_index = 2};
  spoil(job);
  const auto selection = check(job, kDims);
  return selection ? "" : selection.error().text();
}

TEST(SequenceRequestCheck, ValidRequestPasses) {
  EXPECT_EQ(complaint([](auto&) {}), "");
}

TEST(SequenceRequestCheck, EveryFieldOutOfRangeIsNamed) {
  const auto names = [](const std::string& text, const char* field) { return text.find(field) != std::string::npos; };
  EXPECT_TRUE(names(complaint([](auto& job) { job.prompt.clear(); }), "prompt has 0"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.prompt.resize(9); }), "prompt has 9"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.prompt[1] = 100; }), "token 100"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.decoding.suppress_tokens = {-1}; }), "token -1"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.sot_index = 3; }), "sot_index 3"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.temperature = -0.5F; }), "temperature"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.temperature = std::nanf(""); }), "temperature"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.temperature = 1e-9F; }), "temperature"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.temperature = 1e30F; }), "temperature"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.temperature = 1, job.decoding.best_of = 0; }), "best_of"));
  EXPECT_EQ(complaint([](auto& job) { job.temperature = 1, job.decoding.beam_size = 65; }), "")
      << "nothing is searched";
  EXPECT_TRUE(names(complaint([](auto& job) { job.max_tokens = 0; }), "max_tokens"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.decoding.beam_size = -1; }), "beam_size"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.decoding.beam_size = 65; }), "beam_size"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.decoding.length_penalty = 1.5; }), "length_penalty"));
  EXPECT_TRUE(names(complaint([](auto& job) { job.decoding.length_penalty = std::nan(""); }), "length_penalty"));
  const auto with_beams = [](double patience) {
    return [=](SequenceRequest& job) {
      job.decoding.beam_size = 2;
      job.decoding.patience = patience;
    };
  };
  EXPECT_EQ(complaint(with_beams(1.5)), "");
  for (const double patience : {0.0, -1.0, 1000.0, std::nan("")}) {
    EXPECT_TRUE(names(complaint(with_beams(patience)), "patience")) << patience;
  }
  EXPECT_TRUE(names(complaint(with_beams(0.1)), "no hypothesis"));
}

TEST(SequenceRequestCheck, RequestThatCouldOutgrowItsSlotIsRefused) {
  constexpr WhisperDims kLonger{.n_vocab = 100, .n_text_ctx = 32};
  const auto with = [&](std::int32_t max_tokens, std::int32_t text_positions) {
    const auto found = check({.prompt = {1, 2, 3}, .sot_index = 2, .max_tokens = max_tokens}, kLonger, text_positions);
    return found ? "" : found.error().what;
  };
  EXPECT_EQ(with(14, 16), "") << "the last token is in no slot";
  EXPECT_EQ(
      with(15, 16),
      "decode request: a prompt of 3 tokens and 15 sampled ones need 17 text positions, this worker's slots have 16");
  EXPECT_EQ(with(1000, 0), "") << "ends at the model's text context, as in the reference";
  EXPECT_EQ(with(1000, 32), "");
  EXPECT_NE(with(1000, 31), "");
}

}  // namespace
}  // namespace tutti
