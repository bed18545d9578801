#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "decode/beam_group.h"
#include "decode/sequence.h"
#include "decode/stepper.h"
#include "decode/verified_token_selector.h"

namespace tutti {

/// A request that ended, or the reason why it could not.
struct DecodeResult {
  std::uint64_t window_id = 0;
  std::uint64_t request = 0;
  Result<DecodeOutcome> outcome;
};

/// Continuous batching: requests of any windows share the slots of one stepper. Every step prefills the sequences that
/// just got a slot and moves all others on by one token, each at its own position. A slot whose sequence ended is taken
/// by the next in line at the following step. The beams of a search take all their slots at once and release them
/// together. The result of a request does not depend on its neighbours. One thread. The tokens of many sequences are
/// selected on the compute team, or on the device where the stepper prefers that.
class Batcher {
 public:
  /// text_positions: tokens that a slot of the steppers holds. `clock` must outlive the batcher.
  Batcher(DecodingTokens tokens, std::int32_t text_positions, const Clock& clock);

  /// Queues a request that passed `check`.
  void submit(SequenceRequest job);
  /// Drops all requests of a window; they return no result.
  void forget(std::uint64_t window_id);
  /// One step of everything that fits into `stepper`'s slots. Between two calls the stepper may only be changed
  /// together with `restart`. What the stepper throws passes through; `restart` then makes the batcher valid again.
  std::vector<DecodeResult> step(Stepper& stepper);
  /// Restarts every live sequence, first in line: its slots are gone. Costs the steps made so far, loses nothing.
  void restart();
  /// Ends every request that has a live sequence with this error; where none is live, the first in line.
  std::vector<DecodeResult> fail_current(const Error& error);

  /// Takes back the requests of windows that have no live sequence, in their order; where nothing is live, of all
  /// windows but the first in line. Costs the steps made so far, loses nothing: they may be submitted again.
  std::vector<SequenceRequest> withdraw_waiting();

  bool idle() const { return live_.empty() && waiting_.empty(); }
  /// Requests that are not finished, waiting ones among them.
  std::int32_t jobs() const;

 private:
  std::vector<DecodeResult> admit(std::int32_t slots);
  std::vector<std::int32_t> free_slots(std::int32_t slots) const;
  std::vector<Selection> select_all(Stepper& stepper);
  /// Adds the time of a step to the requests that took part.
  void share_out(Seconds step);
  /// Move on one sample, or all beams of one search; what goes on is added to `next`.
  void step_sample(Sequence& sequence, const Selection& selection, std::vector<Sequence>& next,
                   std::vector<DecodeResult>& finished) const;
  void step_search(std::span<const Sequence> beams, std::span<const Selection> selections, std::vector<Sequence>& next,
                   std::vector<DecodeResult>& finished);
  DecodeResult end(RequestProgress& progress) const;
  /// Forgets every sequence of which `goes` holds.
  template <class Goes>
  void drop(Goes goes);

  DecodingTokens tokens_;
  std::int32_t text_positions_;
  const Clock& clock_;
  std::deque<Sequence> waiting_{};
  std::vector<Sequence> live_{};    // the beams of a search side by side, in their order
  std::vector<SlotCopy> copies_{};  // due before the next step
  VerifiedTokenSelector token_selector_{};
};

}  // namespace tutti
