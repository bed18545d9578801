#pragma once

#include <limits>
#include <string>
#include <vector>

#include "link/messages.h"

namespace tutti {

/// One of every message, every field set to something that is not its default.
inline std::vector<ToWorker> sample_orders() {
  return {
      LoadModel{.model_path = "/models/tiny",
                .device = "cuda:0",
                .compute_type = "float16",
                .threads = 7,
                .batch_size = 16,
                .beams = 3,
                .text_positions = 232,
                .deterministic = true},
      OpenWindow{.window = 5, .n_mels = 80, .frames = 1000, .positions = 600},
      DetectLanguage{.window = 6},
      DecodeWindow{.window = 7,
                   .request = 8,
                   .prompt = {50257, 50362, -1},
                   .sot_index = 2,
                   .temperature = 0.25F,
                   .max_tokens = 100,
                   .decoding = {.best_of = 5,
                                .beam_size = 4,
                                .patience = 1.5,
                                .length_penalty = 0.75,
                                .seed = 0xfeedfacecafebeefULL,
                                .suppress_tokens = {1, 2, 50000},
                                .suppress_blank = false,
                                .timestamps = false,
                                .max_initial_timestamp = -1,
                                .token_logprobs = true}},
      AlignWindow{
          .window = 8, .request = 3, .sot_sequence = {50258, 50259, 50359}, .text_tokens = {440, 7, 1}, .frames = 1234},
      ReleaseWindow{.window = 9},
      Ping{.sequence = 10},
      TranscribeWindow{.window = 11, .language = "en", .options = "{\"beam_size\":5}"},
      AnalyzeSpeakers{.window = 12, .network = "embedding", .weights = "/weights", .lengths = {150, 90}}};
}

inline std::vector<ToControl> sample_reports() {
  return {
      Hello{.protocol = 77, .build_id = "abc", .device_uuid = "GPU-1", .abilities = "language,beam_size"},
      Ready{.device_name = "H100",
            .compute_type = "bfloat16",
            .n_mels = 128,
            .n_audio_ctx = 1500,
            .n_text_ctx = 448,
            .n_vocab = 51866,
            .slots = 16,
            .load_seconds = 1.5,
            .window_seconds = 0.25,
            .languages = "en,de"},
      Opened{.window = 5, .encode_seconds = 0.125},
      Language{.window = 6, .tokens = {50259, 50260}, .probabilities = {0.75F, 0.25F}},
      Decoded{.window = 7,
              .request = 8,
              .tokens = {1, 2, 3},
              .sum_logprob = -1.5,
              .avg_logprob = -0.375,
              .no_speech_prob = 0.5F,
              .steps = 4,
              .narrow_margins = 1,
              .seconds = 0.0625,
              .shared_steps = 4.25,
              .sequence_steps = 25,
              .token_logprobs = {-0.5F, -0.25F, -0.75F, 0.0F}},
      Aligned{
          .window = 8, .request = 3, .starts = {0, 12, 40, 55}, .probabilities = {0.5F, 0.25F, 1.0F}, .seconds = 0.125},
      Failed{.window = 7, .request = 8, .fault = Fault::exhausted, .what = "CUDA is out of memory"},
      Pong{.sequence = 10},
      LogLine{.level = 2, .text = "slow \xc3\xbc"},
      Transcribed{.window = 11, .seconds = 0.5, .transcript = "{\"segments\":[]}"},
      SpeakersAnalyzed{.window = 12, .seconds = 0.25, .values = {0.5F, -0.25F}}};
}

}  // namespace tutti
