#include "worker/window_server.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "hub/memory_plan.h"
#include "worker/caught_fault.h"

namespace tutti {

NextAction next_action(const WorkAtHand& work) {
  if (!work.to_encode) return work.to_step ? NextAction::step : NextAction::nothing;
  if (!work.to_step || work.beside_steps) return NextAction::encode;
  if (work.encoded_last) return NextAction::step;
  if (work.free_slots) return NextAction::encode;
  if (work.partial_batch) return NextAction::step;
  return work.stepping_since >= work.last_encoding ? NextAction::encode : NextAction::step;
}

namespace {

/// Without memory enough mels are made ready as their windows are encoded.
std::shared_ptr<MelRing> make_ring(const Network& network, std::int32_t slots) {
  try {
    return std::make_shared<MelRing>(network.make_mels(mel_buffers(slots)), network.takes_short_windows());
  } catch (const std::exception& error) {
    const std::string why = error.what();
    log(Level::warning, "log-mels are not made ready as they come: " + why.substr(0, why.find('\n')));
    const auto& dims = network.dims();
    return std::make_shared<MelRing>(at::empty({0, dims.n_mels, 2 * std::int64_t{dims.n_audio_ctx}}, at::kFloat),
                                     network.takes_short_windows());
  }
}

}  // namespace

WindowServer::WindowServer(LoadedModel model, Reply reply, const Clock& clock)
    : model_(std::move(model)),
      reply_(std::move(reply)),
      clock_(clock),
      mels_(make_ring(*model_.network, model_.slots)),
      backoff_(
          {[this] { return encoder_.encode_singly(); }, [this] { return slots_.halve(); },
           [this] { return answers_.close_idle(); }, [this] { return close_waiting(); }},
          [this] { model_.network->release_memory(); }, reply_),
      slots_(model_, backoff_, clock),
      answers_(model_, slots_, backoff_, reply_, clock),
      encoder_(*model_.network, *mels_, model_.encoded_together, backoff_, clock) {}

Result<void> WindowServer::prepare() {
  if (!model_.network->has_first_uses()) return {};
  const auto begun = clock_.now();
  CaughtFault fault;
  try {
    const auto sizes = slots_.prepare();
    const auto steps_done = clock_.now();
    const auto batches = model_.network->prepare_encoder(encoder_.together());
    const auto took = [](Clock::Instant from, Clock::Instant to) {
      return " in " + fixed_text(Seconds(to - from).count(), 2) + " s";
    };
    log(Level::info, "prepared " + std::to_string(sizes) + " sizes of decoder steps, up to " +
                         std::to_string(slots_.count()) + " sequences," + took(begun, steps_done) + ", and " +
                         std::to_string(batches) + " of encodings, up to " + std::to_string(encoder_.together()) +
                         " windows," + took(steps_done, clock_.now()));
    return {};
  } catch (...) {
    fault = caught_fault("preparing decoder steps and encodings");
  }
  // Outside the handler: the exception may hold the very memory that ran out.
  slots_.drop_steppers();
  if (fault.fatal) return tl::unexpected<Error>(fault.error);
  encoder_.encode_singly();
  model_.network->release_memory();
  log(Level::warning, fault.error.what + ": steps are prepared at first use, and encodings are not recorded");
  return {};
}

void WindowServer::open(const OpenWindow& message, Result<WindowMel> mel) {
  if (answers_.open(message, mel)) encoder_.open(message.window, std::move(*mel));
}

void WindowServer::release(const ReleaseWindow& message) {
  answers_.close(message.window);
  encoder_.close(message.window);
  full_ = false;
}

void WindowServer::work() {
  const auto begun = Clock::real().now();
  const char* const done = do_next();
  if (!row_ || !done) return;
  row_->slice(done, begun, Clock::real().now());
  if (!has_work()) row_->write();  // a worker may be ended at any time
}

std::ptrdiff_t WindowServer::encoded_windows() const {
  return answers_.encoded_windows() + (encoder_.begun() ? std::ssize(encoder_.begun()->ids) : 0);
}

bool WindowServer::can_encode() const {
  return !full_ && encoder_.waiting() > 0 && (slots_.idle() || encoded_windows() < most_encoded_);
}

/// What was done, for a trace; nullptr: nothing.
const char* WindowServer::do_next() {
  constexpr const char* kEncode = "encode";
  constexpr const char* kStep = "decoder step";
  if (const auto& begun = encoder_.begun()) {
    const bool is_through = slots_.idle() || begun->is_done();
    is_through ? answers_.encoded(encoder_.finish()) : step();
    return is_through ? kEncode : kStep;
  }
  auto now = workload_;
  now.to_encode = can_encode();
  now.to_step = !slots_.idle();
  now.free_slots = slots_.any_free();
  now.beside_steps = model_.network->encodes_beside_steps();
  now.partial_batch = encoder_.waiting() < encoder_.together();
  const auto action = next_action(now);
  const auto begun = clock_.now();
  switch (action) {
    case NextAction::nothing: return nullptr;
    case NextAction::encode: {
      const bool beside_steps = now.to_step && now.beside_steps;
      encode_next(beside_steps);
      if (!beside_steps) workload_ = {.encoded_last = true, .last_encoding = clock_.now() - begun};
      return kEncode;
    }
    case NextAction::step: break;
  }
  step();
  workload_.encoded_last = false;
  workload_.stepping_since += clock_.now() - begun;
  return kStep;
}

/// Windows that fail for want of memory wait until a job ends, and never for the control side, which may hold one
/// window until another one is answered; the others fail.
void WindowServer::encode_next(bool beside_steps) {
  auto encoded = encoder_.encode(beside_steps);
  if (!encoded) return;
  if (encoded->kvs) return answers_.encoded(std::move(*encoded));
  full_ = encoded->kvs.error().fault == Fault::exhausted && !slots_.idle();
  if (full_) return encoder_.put_back(encoded->ids);
  for (const auto id : encoded->ids) encoder_.close(id);
  answers_.encoded(std::move(*encoded));
}

void WindowServer::step() {
  if (answers_.step()) full_ = false;
}

/// Windows whose requests wait for a slot, and those on their way through the encoder, are encoded again when it is
/// their turn. From then on half as many are encoded while sequences step, or memory would run out once more. Nothing:
/// there are none.
std::optional<std::string> WindowServer::close_waiting() {
  const auto before = encoded_windows();
  auto closed = answers_.close_waiting();
  std::ranges::copy(encoder_.give_up_begun(), std::back_inserter(closed));
  if (closed.empty()) return std::nullopt;
  encoder_.put_back(closed);
  most_encoded_ = std::max<std::ptrdiff_t>(1, before / 2);
  return std::to_string(closed.size()) + " windows that wait are encoded again, " + std::to_string(most_encoded_) +
         " at a time from now on";
}

}  // namespace tutti
