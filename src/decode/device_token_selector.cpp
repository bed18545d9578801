#include "decode/device_token_selector.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/log.h"
#include "decode/logit_rules.h"
#include "decode/to_host.h"

namespace tutti {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostMasks = 32;  // a run has two or three

/// The inputs of every sequence on the device, a row of numbers each.
using Column = SelectJob::Column;
using enum SelectJob::Column;

/// Lists of numbers that go to the device as one.
class OneUpload {
 public:
  /// Returns the offset that the list will have.
  template <class T>
  std::size_t add(const std::vector<T>& numbers) {
    const auto at = (bytes_.size() + 7) / 8 * 8;
    const auto list = std::as_bytes(std::span(numbers));
    bytes_.resize(at);
    bytes_.insert(bytes_.end(), list.begin(), list.end());
    return at;
  }
  /// staging: read by the device until it is waited for.
  void send(at::Tensor& staging, at::Device device) {
    const auto size = static_cast<std::int64_t>(bytes_.size());
    if (!staging.defined() || staging.numel() < size)
      staging = at::empty({2 * size}, at::TensorOptions(at::kByte).pinned_memory(device.is_cuda()));
    std::memcpy(staging.mutable_data_ptr(), bytes_.data(), bytes_.size());
    there_ = staging.narrow(0, 0, size).to(device, /*non_blocking=*/true);
  }
  /// [count] of that type on the device.
  at::Tensor list(std::size_t at, std::size_t count, at::ScalarType type) const {
    const auto size = static_cast<std::int64_t>(count * c10::elementSize(type));
    return there_.narrow(0, static_cast<std::int64_t>(at), size).view(type);
  }

 private:
  std::vector<std::byte> bytes_{};
  at::Tensor there_{};
};

/// Sequences that draw their token.
struct Draws {
  std::vector<std::int32_t> rows{};  // which sequences
  std::vector<float> scales{};       // 1 / temperature
  std::vector<double> numbers{};     // uniform in [0, 1)

  void add(std::size_t i, const Sequence& sequence) {
    rows.push_back(static_cast<std::int32_t>(i));
    scales.push_back(1 / sequence.of->job.temperature);
    numbers.push_back(uniform(draw_key(sequence)));
  }
};

/// What is found in the logits of all sequences, on the device.
struct Findings {
  at::Tensor all_times{};  // [sequences] float32: log of the sum over all timestamps; NaN: none is possible
  at::Tensor best_time{};  // [sequences] float32: the likeliest timestamp's logit
  at::Tensor best_text{};  // [sequences] float32, before rule (e) of the timestamps
  at::Tensor logprobs{};   // [sequences, n_vocab] float32, after it
  std::vector<at::Tensor> likeliest{};  // [sequences] float32 of the likeliest, the next, ...
  std::vector<at::Tensor> positions{};  // [sequences] int64: the indices of these tokens
};

/// The logits after every sequence's newest token, those that its history and options forbid at minus infinity.
at::Tensor allowed_logits(const at::Tensor& logits, const at::Tensor& inputs, const at::Tensor& masks,
                          const at::Tensor& positions, std::int64_t timestamp_begin) {
  const auto column = [&](Column which) { return inputs.select(0, which).unsqueeze(1); };
  const auto times = positions.numel() - timestamp_begin;
  const auto text_positions = positions.narrow(0, 0, timestamp_begin);
  const auto time_positions = positions.narrow(0, timestamp_begin, times);
  const auto forbidden = masks.index_select(0, inputs.select(0, kMask)).ne(0);
  forbidden.narrow(1, 0, timestamp_begin).logical_or_(text_positions.lt(column(kTextFrom)));
  forbidden.narrow(1, timestamp_begin, times).logical_or_(time_positions.lt(column(kTimeFrom)));
  forbidden.narrow(1, timestamp_begin, times).logical_or_(time_positions.ge(column(kTimeTo)));
  return logits.index_select(0, inputs.select(0, kNewest)).masked_fill_(forbidden, kNever);
}

/// Rule (e), text is out where all timestamps together are likelier than the likeliest of it, and the log-probabilities
/// of what is left. Changes `allowed`.
Findings weigh(const at::Tensor& allowed, const at::Tensor& inputs, std::int64_t timestamp_begin) {
  const auto text = allowed.narrow(1, 0, timestamp_begin);
  const auto times = allowed.narrow(1, timestamp_begin, allowed.size(1) - timestamp_begin);
  // One kernel each, where a log of a sum would be eight: a logit and its log-probability are that sum's log apart.
  Findings found{.best_time = times.amax(1), .best_text = text.amax(1)};
  found.all_times = found.best_time - times.log_softmax(1).amax(1);
  const auto out = inputs.select(0, kWeighsTimes).ne(0).logical_and_(found.all_times.gt(found.best_text));
  text.masked_fill_(out.unsqueeze(1), kNever);
  found.logprobs = allowed.log_softmax(1);
  return found;
}

/// One after the other: of equals the first, which a sort does not promise. Changes the log-probabilities.
void find_likeliest(std::int64_t count, Findings& found) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto position = found.logprobs.argmax(1, /*keepdim=*/true);
    found.likeliest.push_back(found.logprobs.gather(1, position).squeeze(1));
    found.positions.push_back(position.squeeze(1));
    if (i + 1 < count) found.logprobs.scatter_(1, position, kNever);
  }
}

/// Inverts the cumulative distributions of rows of log-probabilities [draws, n_vocab], each times its row's scale, at
/// the row's number: [2, draws] float64, the indices and their log-probabilities. scales, numbers: [draws].
at::Tensor draw(const at::Tensor& rows, const at::Tensor& scales, const at::Tensor& numbers) {
  const auto weights = (rows - rows.amax(1, /*keepdim=*/true)).mul_(scales.unsqueeze(1)).exp_();
  const auto sums = weights.cumsum(1, at::kDouble);
  const auto last = sums.size(1) - 1;
  const auto targets = numbers.unsqueeze(1) * sums.narrow(1, last, 1);
  const auto positions = sums.le(targets).sum(1, /*keepdim=*/true).clamp_max_(last);
  return at::cat({positions.to(at::kDouble), rows.gather(1, positions).to(at::kDouble)}, 1).t();
}

/// softmax(row)[index] of every row.
at::Tensor chances(const at::Tensor& rows, std::int32_t index) {
  return rows.softmax(1).select(1, index);
}

/// Numbers of several tensors that go to the host as one.
class OneCopy {
 public:
  void add(const at::Tensor& numbers) { parts_.push_back(numbers.flatten().to(at::kDouble)); }
  /// Waits for the device.
  void fetch() { host_ = to_host(parts_.size() == 1 ? parts_.front() : at::cat(parts_)); }
  /// Read in the order of adding.
  std::span<const double> next(std::size_t count) {
    const std::span all(host_.const_data_ptr<double>(), static_cast<std::size_t>(host_.numel()));
    return all.subspan(std::exchange(read_, read_ + count), count);
  }

 private:
  std::vector<at::Tensor> parts_{};
  at::Tensor host_{};
  std::size_t read_ = 0;
};

/// The same on the host.
struct Found {
  std::size_t sequences = 0;
  std::span<const double> drawn{};      // [2, draws]
  std::span<const double> all_times{};  // [sequences], as the next two
  std::span<const double> best_time{};
  std::span<const double> best_text{};
  std::span<const double> logprobs{};  // [likeliest, sequences], as the next
  std::span<const double> positions{};
  std::span<const double> no_speech{};  // probabilities: [sequences], or of those that need one, in order

  double logprob(std::size_t rank, std::size_t i) const { return logprobs[rank * sequences + i]; }
  std::int32_t position(std::size_t rank, std::size_t i) const {
    return static_cast<std::int32_t>(positions[rank * sequences + i]);
  }
};

/// As likeliest_continuations: none where no token is possible; sums that are no numbers where a logit is none.
std::vector<Continuation> continuations(const Found& found, std::size_t i, const Sequence& beam) {
  std::vector<Continuation> all;
  if (found.best_time[i] == kNever && found.best_text[i] == kNever) return all;
  for (std::size_t rank = 0; rank <= static_cast<std::size_t>(beam.of->job.decoding.beams()); ++rank) {
    const auto logprob = static_cast<float>(found.logprob(rank, i));
    if (logprob == static_cast<float>(kNever)) continue;
    all.push_back({.token = found.position(rank, i),
                   .sum_logprob = static_cast<float>(beam.sample.sum_logprob) + logprob,
                   .logprob = logprob});
  }
  return all;
}

Choice argmax(const Found& found, std::size_t i) {
  return {.token = found.position(0, i),
          .logprob = found.logprob(0, i),
          .narrow = found.logprob(0, i) - found.logprob(1, i) < kNarrowMargin};
}

/// The `which`-th draw; the likeliest where rounding led to a token that is not possible.
Choice drawn(const Found& found, std::size_t i, std::size_t which) {
  const double logprob = found.drawn[found.drawn.size() / 2 + which];
  if (!(logprob > kNever)) return argmax(found, i);
  return {.token = static_cast<std::int32_t>(found.drawn[which]), .logprob = logprob};
}

std::vector<Selection> selections_of(const Found& found, const StepRows& step, std::span<const Sequence> live) {
  std::vector<Selection> selections(live.size());
  std::size_t draws = 0, sots = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto& job = live[i].of->job;
    auto& selection = selections[i];
    // Where nothing of one side is possible, the difference is infinite or NaN, which is not narrow.
    const bool narrow_rule =
        job.decoding.timestamps && std::abs(found.all_times[i] - found.best_text[i]) < kNarrowMargin;
    if (live[i].is_beam()) {
      selection.continuations = continuations(found, i, live[i]);
    } else {
      selection.choice = job.temperature > 0 ? drawn(found, i, draws++) : argmax(found, i);
    }
    selection.narrow = narrow_rule || selection.choice.narrow;
    if (step.at_sot[i] < 0 || found.no_speech.empty()) continue;
    const bool has_all = found.no_speech.size() == live.size();
    selection.no_speech_prob = static_cast<float>(found.no_speech[has_all ? i : sots++]);
  }
  return selections;
}

}  // namespace

/// What the host knows before it has seen the step's logits.
struct DeviceTokenSelector::HostInputs {
  std::vector<std::int32_t> columns{};   // [kColumns, sequences]
  std::vector<std::int32_t> sot_rows{};  // start-of-transcript rows of the sequences that have one, in order
  std::int64_t likeliest = 2;            // to look for: the runner-up shows how narrow it was
  Draws draws{};
};

/// The same on the device.
struct DeviceTokenSelector::There {
  There(const HostInputs& inputs, at::Tensor& staging, at::Device device) {
    OneUpload all;
    const auto at_columns = all.add(inputs.columns), at_sots = all.add(inputs.sot_rows),
               at_rows = all.add(inputs.draws.rows), at_scales = all.add(inputs.draws.scales),
               at_numbers = all.add(inputs.draws.numbers);
    all.send(staging, device);
    const auto draws = inputs.draws.rows.size();
    columns = all.list(at_columns, inputs.columns.size(), at::kInt).view({kColumns, -1});
    sot_rows = all.list(at_sots, inputs.sot_rows.size(), at::kInt);
    drawing = all.list(at_rows, draws, at::kInt);
    scales = all.list(at_scales, draws, at::kFloat);
    numbers = all.list(at_numbers, draws, at::kDouble);
  }

  at::Tensor columns{};
  at::Tensor sot_rows{};
  at::Tensor drawing{};
  at::Tensor scales{};
  at::Tensor numbers{};
};

std::int32_t DeviceTokenSelector::mask_for(const Sequence& sequence, const DecodingTokens& tokens,
                                           const at::Tensor& logits) {
  const auto& rules = sequence.of->job.decoding;
  const bool first = sequence.sample.tokens.empty();
  const Mask wanted{rules.suppress_tokens, first && rules.suppress_blank, rules.timestamps};
  const auto known = std::ranges::find(known_, wanted);
  if (known != known_.end()) return static_cast<std::int32_t>(known - known_.begin());
  std::vector<float> row(static_cast<std::size_t>(logits.size(1)));
  forbid_ids(row, first, rules, tokens);
  const auto forbidden = at::tensor(row).ne(0).to(at::kInt).unsqueeze(0).to(logits.device());
  masks_ = known_.empty() ? forbidden : at::cat({masks_, forbidden});
  known_.push_back(wanted);
  return static_cast<std::int32_t>(known_.size()) - 1;
}

DeviceTokenSelector::HostInputs DeviceTokenSelector::host_inputs(const StepRows& step, std::span<const Sequence> live,
                                                                 const DecodingTokens& tokens) {
  const auto n_vocab = static_cast<std::int32_t>(step.logits.size(1));
  HostInputs inputs{.columns = std::vector<std::int32_t>(static_cast<std::size_t>(kColumns) * live.size())};
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto& job = live[i].of->job;
    const auto allowed = allowed_after(live[i].sample.tokens, job.decoding, tokens, n_vocab);
    const auto say = [&](Column column, std::int64_t number) {
      inputs.columns[static_cast<std::size_t>(column) * live.size() + i] = static_cast<std::int32_t>(number);
    };
    say(kNewest, step.newest[i]);
    say(kMask, mask_for(live[i], tokens, step.logits));
    say(kTextFrom, allowed.text_from);
    say(kTimeFrom, allowed.time_from);
    say(kTimeTo, allowed.time_to);
    say(kWeighsTimes, job.decoding.timestamps ? 1 : 0);
    say(kSot, step.at_sot[i]);
    if (step.at_sot[i] >= 0 && tokens.no_speech) inputs.sot_rows.push_back(static_cast<std::int32_t>(step.at_sot[i]));
    if (live[i].is_beam()) inputs.likeliest = std::max<std::int64_t>(inputs.likeliest, job.decoding.beams() + 1);
    if (job.temperature > 0) inputs.draws.add(i, live[i]);
  }
  return inputs;
}

/// By one kernel: SelectJob's numbers. Nothing where this build has none for the device.
std::optional<at::Tensor> DeviceTokenSelector::find_by_kernel(const at::Tensor& logits, const at::Tensor& columns,
                                                              std::int64_t likeliest, std::int32_t timestamp_begin,
                                                              std::int32_t no_speech) {
  if (!has_kernel_) return {};
  const c10::DeviceGuard here(logits.device());
  const auto rows = columns.size(1);
  const auto all = logits.contiguous();
  auto found = at::empty({3 + 2 * likeliest + (no_speech >= 0 ? 1 : 0), rows}, logits.options().dtype(at::kDouble));
  const auto now = kernels_of(logits.device());
  try {
    now.kernels->select({.logits = all.const_data_ptr<float>(),
                         .inputs = columns.const_data_ptr<std::int32_t>(),
                         .masks = masks_.const_data_ptr<std::int32_t>(),
                         .found = found.mutable_data_ptr<double>(),
                         .rows = static_cast<std::int32_t>(rows),
                         .vocab = static_cast<std::int32_t>(logits.size(1)),
                         .timestamp_begin = timestamp_begin,
                         .likeliest = static_cast<std::int32_t>(likeliest),
                         .no_speech = no_speech},
                        now.stream);
    return found;
  } catch (const KernelError& error) {
    if (!error.is_missing_code()) throw;
    has_kernel_ = false;
    log(Level::warning, std::string("tokens are selected by torch's operators: ") + error.what());
    return {};
  }
}

/// The numbers of all sequences by torch's operators, in the order of SelectJob's; before them what is drawn.
std::vector<at::Tensor> DeviceTokenSelector::find_by_operators(const at::Tensor& logits, const There& there,
                                                               const HostInputs& inputs, std::int32_t timestamp_begin) {
  if (!positions_.defined()) positions_ = at::arange(logits.size(1), logits.options().dtype(at::kInt));
  const auto allowed = allowed_logits(logits, there.columns, masks_, positions_, timestamp_begin);
  auto findings = weigh(allowed, there.columns, timestamp_begin);
  std::vector<at::Tensor> found;
  if (!inputs.draws.rows.empty())
    found.push_back(draw(findings.logprobs.index_select(0, there.drawing), there.scales, there.numbers));
  find_likeliest(inputs.likeliest, findings);
  found.insert(found.end(), {findings.all_times, findings.best_time, findings.best_text, at::stack(findings.likeliest),
                             at::stack(findings.positions)});
  return found;
}

std::vector<Selection> DeviceTokenSelector::select_tokens(const StepRows& step, std::span<const Sequence> live,
                                                          const DecodingTokens& tokens) {
  const c10::InferenceMode no_autograd;
  const auto& logits = step.logits;
  const bool others = masks_.defined() && (masks_.device() != logits.device() || masks_.size(1) != logits.size(1));
  if (others || known_.size() >= kMostMasks) {
    const bool has_kernel = has_kernel_;
    *this = DeviceTokenSelector{};
    has_kernel_ = has_kernel;
  }

  const auto inputs = host_inputs(step, live, tokens);
  const There there(inputs, staging_, logits.device());
  const auto sots = inputs.sot_rows.size(), draws = inputs.draws.rows.size();
  OneCopy copy;
  const auto no_speech = sots > 0 ? *tokens.no_speech : -1;
  const auto found_there =
      draws > 0 ? std::nullopt
                : find_by_kernel(logits, there.columns, inputs.likeliest, tokens.timestamp_begin, no_speech);
  for (const auto& part :
       found_there ? std::vector{*found_there} : find_by_operators(logits, there, inputs, tokens.timestamp_begin))
    copy.add(part);
  if (sots > 0 && !found_there) copy.add(chances(logits.index_select(0, there.sot_rows), no_speech));
  copy.fetch();

  const auto count = live.size(), listed = static_cast<std::size_t>(inputs.likeliest) * count;
  const Found found{.sequences = count,
                    .drawn = copy.next(2 * draws),
                    .all_times = copy.next(count),
                    .best_time = copy.next(count),
                    .best_text = copy.next(count),
                    .logprobs = copy.next(listed),
                    .positions = copy.next(listed),
                    .no_speech = copy.next(found_there && sots > 0 ? count : sots)};
  return selections_of(found, step, live);
}

}  // namespace tutti
