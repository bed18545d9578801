#include "decode/sequence_request.h"

#include <algorithm>
#include <string>

#include "decode/beams.h"
#include "transcript/long_form.h"

namespace tutti {
namespace {

tl::unexpected<Error> refuse(const std::string& what) {
  return fail(Fault::usage, "decode request: " + what);
}

Result<void> check_ids(const char* name, const std::vector<std::int32_t>& ids, std::int32_t n_vocab) {
  const auto bad = std::ranges::find_if(ids, [&](auto id) { return id < 0 || id >= n_vocab; });
  if (bad == ids.end()) return {};
  return refuse(std::string(name) + " holds token " + std::to_string(*bad) + ", the vocabulary has " +
                std::to_string(n_vocab));
}

Result<void> check_search(const SequenceRequest& job) {
  const double temperature = job.temperature;
  if (temperature != 0 && !(temperature >= kLeastTemperature && temperature <= kMostTemperature)) {
    return refuse("temperature must be 0, or 0.001 to 100, found " + std::to_string(temperature));
  }
  if (job.best_of < 1 || job.best_of > kMostBeams) {
    return refuse("best_of must be 1 to " + std::to_string(kMostBeams) + ", found " + std::to_string(job.best_of));
  }
  if (job.beam_size < 0 || job.beam_size > kMostBeams) {
    return refuse("beam_size must be 0 to " + std::to_string(kMostBeams) + ", found " + std::to_string(job.beam_size));
  }
  // Written so that NaN is refused.
  if (job.beam_size > 0 && !(job.patience > 0 && job.patience <= kMostPatience)) {
    return refuse("patience must be above 0 and at most " + std::to_string(kMostPatience) + ", found " +
                  std::to_string(job.patience));
  }
  if (job.beam_size > 0 && enough_hypotheses(job.beam_size, job.patience) < 1) {
    return refuse("beam_size " + std::to_string(job.beam_size) + " times patience " + std::to_string(job.patience) +
                  " rounds to no hypothesis at all");
  }
  if (!(job.length_penalty <= 1)) {
    return refuse("length_penalty must be at most 1, found " + std::to_string(job.length_penalty));
  }
  return {};
}

/// The last sampled token is in no slot.
Result<void> check_length(const SequenceRequest& job, std::int32_t n_text_ctx, std::int32_t text_positions) {
  const auto whole = static_cast<std::int64_t>(job.prompt.size()) + job.max_tokens - 1;
  const auto needed = std::min<std::int64_t>(whole, n_text_ctx);
  if (text_positions == 0 || needed <= text_positions) return {};
  return refuse("a prompt of " + std::to_string(job.prompt.size()) + " tokens and " + std::to_string(job.max_tokens) +
                " sampled ones need " + std::to_string(needed) + " text positions, this worker's slots have " +
                std::to_string(text_positions));
}

}  // namespace

Result<void> check(const SequenceRequest& job, const WhisperDims& dims, std::int32_t text_positions) {
  const auto length = static_cast<std::int64_t>(job.prompt.size());
  if (length < 1 || length > dims.n_text_ctx) {
    return refuse("the prompt has " + std::to_string(length) + " tokens, 1 to " + std::to_string(dims.n_text_ctx) +
                  " fit");
  }
  if (job.sot_index < 0 || job.sot_index >= length) {
    return refuse("sot_index " + std::to_string(job.sot_index) + " is outside the prompt");
  }
  if (const auto ok = check_ids("prompt", job.prompt, dims.n_vocab); !ok) return ok;
  if (const auto ok = check_ids("suppress", job.rules.suppress, dims.n_vocab); !ok) return ok;
  if (const auto ok = check_search(job); !ok) return ok;
  if (job.max_tokens < 1) return refuse("max_tokens must be at least 1, found " + std::to_string(job.max_tokens));
  return check_length(job, dims.n_text_ctx, text_positions);
}

}  // namespace tutti
