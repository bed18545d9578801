#include "train/whisper/labels.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/random/counter_random.h"
#include "base/try.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kTimeStep = 0.02;  // seconds between two timestamp tokens

}  // namespace

Result<std::vector<std::int32_t>> start_of_text(const Tokenizer& tokenizer, const std::string& language,
                                                bool translate) {
  const auto& special = tokenizer.special();
  if (special.multilingual && !special.language_token(language))
    return fail(Fault::usage, "language '" + language + "': the model's vocabulary has no such language");
  return tokenizer.sot_sequence(language, translate ? special.translate : special.transcribe);
}

Result<Labels> Labels::make(Tokenizer tokenizer, LabelRules rules) {
  auto start = TRY(start_of_text(tokenizer, rules.language, rules.translate));
  return Labels(std::move(tokenizer), std::move(rules), std::move(start));
}

std::int32_t Labels::time_token(double seconds) const {
  const auto steps = static_cast<std::int32_t>(std::lround(seconds / kTimeStep));
  const auto begin = tokenizer_.special().timestamp_begin;
  return begin + std::clamp(steps, 0, rules_.n_vocab - 1 - begin);
}

/// The text with field note 004's marks, where they are requested. They are spelled like any other text: no vocabulary
/// grows by them, and normalisers leave them out as they do all words in brackets.
std::string Labels::marked(const std::string& text) const {
  if (!rules_.morse_marks) return text;
  return text.empty() ? "<|noise|>" : "<|morse|> " + text;
}

/// Whisper's words carry the space before them, a text's first one too.
void Labels::append_text(std::vector<std::int32_t>& row, const std::string& text) const {
  const auto ids = tokenizer_.encode(text.starts_with(' ') ? text : " " + text);
  row.insert(row.end(), ids.begin(), ids.end());
}

void Labels::append_timed(std::vector<std::int32_t>& row, const BatchSample& sample) const {
  auto stretches = sample.times;
  if (stretches.empty() && !sample.text.empty()) {
    const bool timed = !sample.words.empty();
    stretches.push_back({.start = timed ? sample.words.front().start : 0,
                         .end = timed ? sample.words.back().end : sample.frames / kFramesPerSecond,
                         .text = sample.text});
  }
  if (stretches.empty()) row.push_back(time_token(0));
  for (const auto& stretch : stretches) {
    row.push_back(time_token(stretch.start));
    append_text(row, stretch.text);
    row.push_back(time_token(stretch.end));
  }
}

Result<LabelRow> Labels::row(const BatchSample& sample, std::int64_t epoch) const {
  const auto& special = tokenizer_.special();
  CounterRandom random({rules_.seed, static_cast<std::uint64_t>(epoch), digest(sample.id), digest("timestamps")});
  LabelRow row{.decoder_input = sot_sequence_};
  if (random.chance(rules_.timestamps)) {
    append_timed(row.decoder_input, sample);
  } else {
    row.decoder_input.push_back(special.no_timestamps);
    if (const auto text = marked(sample.text); !text.empty()) append_text(row.decoder_input, text);
  }
  row.targets.assign(row.decoder_input.begin() + 1, row.decoder_input.end());
  row.targets.push_back(special.eot);
  if (sample.text.empty() && special.no_speech > 0) row.targets.front() = special.no_speech;
  const auto most = static_cast<std::size_t>(rules_.n_text_ctx);
  if (row.decoder_input.size() <= most) return row;
  return fail(Fault::corrupt, "sample '" + sample.id + "': its text takes " + std::to_string(row.decoder_input.size()) +
                                  " tokens, the model's text context has " + std::to_string(most));
}

LabelTensors label_tensors(const std::vector<LabelRow>& rows, std::int32_t eot) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.decoder_input.size());
  const auto shape = {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(longest)};
  LabelTensors tensors{at::full(shape, eot, at::TensorOptions(at::kLong)),
                       at::full(shape, kIgnoredTarget, at::TensorOptions(at::kLong))};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(rows[i].decoder_input, tensors.decoder_input.mutable_data_ptr<std::int64_t>() + i * longest);
    std::ranges::copy(rows[i].targets, tensors.targets.mutable_data_ptr<std::int64_t>() + i * longest);
  }
  return tensors;
}

SpelledTensors spelled_tensors(const std::vector<LabelRow>& rows, const std::vector<std::int64_t>& frames,
                               std::int32_t eot) {
  std::vector<std::vector<std::int64_t>> texts;
  std::size_t longest = 1;
  for (const auto& row : rows) {
    auto& text = texts.emplace_back();
    for (const auto token : row.targets)
      if (token < eot) text.push_back(token);
    longest = std::max(longest, text.size());
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  SpelledTensors made{at::zeros({count, static_cast<std::int64_t>(longest)}, at::TensorOptions(at::kLong)),
                      at::empty({count, 2}, at::TensorOptions(at::kLong))};
  auto* lengths = made.lengths.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::ranges::copy(texts[i], made.tokens.mutable_data_ptr<std::int64_t>() + i * longest);
    lengths[2 * i] = (frames[i] + 1) / 2;
    lengths[2 * i + 1] = static_cast<std::int64_t>(texts[i].size());
  }
  return made;
}

}  // namespace tutti
