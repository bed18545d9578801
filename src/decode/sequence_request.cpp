#include "decode/sequence_request.h"

#include <algorithm>
#include <string>

#include "base/try.h"
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

Result<void> check_patience(std::int32_t beams, double patience) {
  // Written so that NaN is refused.
  if (!(patience > 0 && patience <= kMostPatience)) {
    return refuse("patience must be above 0 and at most " + std::to_string(kMostPatience) + ", found " +
                  std::to_string(patience));
  }
  if (enough_hypotheses(beams, patience) < 1) {
    return refuse("beam_size " + std::to_string(beams) + " times patience " + std::to_string(patience) +
                  " rounds to no hypothesis at all");
  }
  return {};
}

Result<void> check_search(const SequenceRequest& job) {
  const double temperature = job.temperature;
  if (temperature != 0 && !(temperature >= kLeastTemperature && temperature <= kMostTemperature)) {
    return refuse("temperature must be 0, or 0.001 to 100, found " + std::to_string(temperature));
  }
  const DecodingOptions& search = job.decoding;
  // What the temperature has no use for is not checked.
  const std::int32_t samples = job.samples(), beams = temperature == 0 ? search.beams() : 0;
  if (samples < 1 || samples > kMostBeams) {
    return refuse("best_of must be 1 to " + std::to_string(kMostBeams) + ", found " + std::to_string(samples));
  }
  if (beams < 0 || beams > kMostBeams) {
    return refuse("beam_size must be 0 to " + std::to_string(kMostBeams) + ", found " + std::to_string(beams));
  }
  if (job.searches_beams()) TRY(check_patience(beams, search.patience.value_or(1)));
  // Written so that NaN is refused.
  if (const double penalty = search.length_penalty.value_or(-1); !(penalty <= 1)) {
    return refuse("length_penalty must be at most 1, found " + std::to_string(penalty));
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
  if (const auto ok = check_ids("suppress", job.decoding.suppress_tokens, dims.n_vocab); !ok) return ok;
  if (const auto ok = check_search(job); !ok) return ok;
  if (job.max_tokens < 1) return refuse("max_tokens must be at least 1, found " + std::to_string(job.max_tokens));
  return check_length(job, dims.n_text_ctx, text_positions);
}

}  // namespace tutti
