#include "worker/window_server.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "decode/fixed_shapes.h"
#include "hub/memory_plan.h"
#include "worker/caught_fault.h"
#include "worker/request_messages.h"

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

/// Instead of a window that was released while it was encoded; no window has this name.
constexpr WindowId kReleased = 0;

Error no_such_window(WindowId id) {
  return {.fault = Fault::usage, .what = "window " + std::to_string(id) + " is not open"};
}

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
      batcher_(model_.tokens, model_.network->text_positions(), clock),
      mels_(make_ring(*model_.network, model_.slots)),
      windows_together_(model_.slots),
      beams_(model_.beams),
      encoded_together_(model_.encoded_together) {}

Result<void> WindowServer::prepare() {
  if (!model_.network->has_first_uses()) return {};
  const auto begun = clock_.now();
  CaughtFault fault;
  try {
    stepper_ = make_stepper();
    auto sizes = model_.network->prepare(*stepper_);
    if (!model_.languages.empty()) {
      detector_ = model_.network->make_stepper(1);
      sizes += model_.network->prepare(*detector_);
    }
    const auto steps_done = clock_.now();
    const auto batches = model_.network->prepare_encoder(encoded_together_);
    const auto took = [](Clock::Instant from, Clock::Instant to) {
      return " in " + fixed_text(Seconds(to - from).count(), 2) + " s";
    };
    log(Level::info, "prepared " + std::to_string(sizes) + " sizes of decoder steps, up to " + std::to_string(slots()) +
                         " sequences," + took(begun, steps_done) + ", and " + std::to_string(batches) +
                         " of encodings, up to " + std::to_string(encoded_together_) + " windows," +
                         took(steps_done, clock_.now()));
    return {};
  } catch (...) {
    fault = caught_fault("preparing decoder steps and encodings");
  }
  // Outside the handler: the exception may hold the very memory that ran out.
  stepper_.reset();
  detector_.reset();
  if (fault.fatal) return tl::unexpected<Error>(fault.error);
  encoded_together_ = 1;
  model_.network->release_memory();
  log(Level::warning, fault.error.what + ": steps are prepared at first use, and encodings are not recorded");
  return {};
}

void WindowServer::fail_window(WindowId id, std::uint64_t request, const Error& error) {
  reply_(Failed{.window = id, .request = request, .fault = error.fault, .what = error.text()});
}

bool WindowServer::halve_slots(const Error& error) {
  if (windows_together_ == 1) return false;
  const auto before = slots();
  windows_together_ /= 2;
  batcher_.restart();
  stepper_.reset();
  model_.network->release_memory();
  reply_(LogLine{.level = static_cast<std::uint8_t>(Level::warning),
                 .text = error.what + ": stepping " + std::to_string(slots()) + " sequences at a time instead of " +
                         std::to_string(before)});
  return true;
}

/// Memory that a batch's encodings took is better spent on sequences. False: windows are encoded one at a time already.
bool WindowServer::encode_singly(const Error& error) {
  if (encoded_together_ == 1) return false;
  encoded_together_ = 1;
  model_.network->release_memory();
  reply_(LogLine{.level = static_cast<std::uint8_t>(Level::warning),
                 .text = error.what + ": windows are encoded one at a time"});
  return true;
}

/// A run requests one number of beams, so this happens once, at its first window.
void WindowServer::free_slots_for(std::int32_t beams) {
  if (beams <= beams_) return;
  beams_ = beams;
  batcher_.restart();
  stepper_.reset();
}

template <class Fn>
auto WindowServer::backing_off(const char* doing, Fn fn) -> Result<decltype(fn())> {
  for (;;) {
    CaughtFault fault;
    try {
      return fn();
    } catch (...) {
      fault = caught_fault(doing);
    }
    // Outside the handler: the exception may hold the very memory that ran out.
    if (fault.fatal) {
      broken_ = true;
      fail_window(0, 0, fault.error);
    }
    if (!fault.out_of_memory) return tl::unexpected<Error>(fault.error);
    if (encode_singly(fault.error) || halve_slots(fault.error) || close_idle_windows() ||
        close_waiting_windows(fault.error))
      continue;
    return tl::unexpected<Error>(fault.error);
  }
}

void WindowServer::open(const OpenWindow& message, Result<WindowMel> mel) {
  if (windows_.contains(message.window)) {
    return fail_window(message.window, 0,
                       {Fault::usage, "window " + std::to_string(message.window) + " is open already"});
  }
  if (!mel) return fail_window(message.window, 0, mel.error());
  windows_.try_emplace(message.window, Window{.mel = std::move(*mel)});
  to_encode_.push_back(message.window);
}

void WindowServer::detect(const DetectLanguage& message) {
  const auto found = windows_.find(message.window);
  if (found == windows_.end()) return fail_window(message.window, 0, no_such_window(message.window));
  if (!can_answer(message.window, found->second)) return void(++found->second.detections);
  answer_language(message.window, found->second);
}

void WindowServer::decode(const DecodeWindow& message) {
  const auto found = windows_.find(message.window);
  if (found == windows_.end()) return fail_window(message.window, message.request, no_such_window(message.window));
  if (!can_answer(message.window, found->second)) return found->second.decodings.push_back(message);
  submit(message, found->second);
}

void WindowServer::align(const AlignWindow& message) {
  const auto found = windows_.find(message.window);
  if (found == windows_.end()) return fail_window(message.window, message.request, no_such_window(message.window));
  if (!can_answer(message.window, found->second)) return found->second.alignments.push_back(message);
  answer_alignment(message, found->second);
}

void WindowServer::release(const ReleaseWindow& message) {
  windows_.erase(message.window);
  std::erase(to_encode_, message.window);
  if (ahead_) std::ranges::replace(ahead_->ids, message.window, kReleased);
  batcher_.forget(message.window);
  full_ = false;
}

void WindowServer::work() {
  const auto begun = Clock::real().now();
  const char* const done = do_next();
  if (!row_ || !done) return;
  row_->slice(done, begun, Clock::real().now());
  if (!has_work()) row_->write();  // a worker may be ended at any time
}

/// What was done, for a trace; nullptr: nothing.
const char* WindowServer::do_next() {
  constexpr const char* kEncode = "encode";
  constexpr const char* kStep = "decoder step";
  if (ahead_) {
    const bool is_through = batcher_.idle() || begun_is_done();
    is_through ? finish_begun() : step();
    return is_through ? kEncode : kStep;
  }
  auto now = workload_;
  now.to_encode = can_encode();
  now.to_step = !batcher_.idle();
  now.free_slots = batcher_.jobs() < windows_together_;
  now.beside_steps = model_.network->encodes_beside_steps();
  now.partial_batch = std::ssize(to_encode_) < encoded_together_;
  const auto action = next_action(now);
  const auto begun = clock_.now();
  switch (action) {
    case NextAction::nothing: return nullptr;
    case NextAction::encode:
      if (now.to_step && now.beside_steps) {
        begin_next();
      } else {
        encode_next();
        workload_ = {.encoded_last = true, .last_encoding = clock_.now() - begun};
      }
      return kEncode;
    case NextAction::step: break;
  }
  step();
  workload_.encoded_last = false;
  workload_.stepping_since += clock_.now() - begun;
  return kStep;
}

/// As they were received, where they are side by side; else, and where a window is encoded once more, copied here. All
/// have one width.
at::Tensor WindowServer::mels_of(const std::vector<WindowId>& ids) const {
  std::vector<const WindowMel*> mels;
  for (const auto id : ids) mels.push_back(&windows_.at(id).mel);
  if (const auto ready = mels_->side_by_side(mels)) return *ready;
  const auto copied = model_.network->make_mels(std::ssize(mels)).narrow(2, 0, mels.front()->width);
  for (std::size_t i = 0; i < mels.size(); ++i) mels_->write(*mels[i], copied[static_cast<std::int64_t>(i)]);
  return copied;
}

/// Whether the window is encoded. One that was closed is encoded again.
bool WindowServer::can_answer(WindowId id, const Window& window) {
  if (window.kv) return true;
  if (ahead_ && std::ranges::find(ahead_->ids, id) != ahead_->ids.end()) return false;
  if (std::ranges::find(to_encode_, id) == to_encode_.end()) to_encode_.push_back(id);
  return false;
}

/// They are encoded again when they are requested. False: there is none.
bool WindowServer::close_idle_windows() {
  bool any = false;
  for (auto& [_, window] : windows_) {
    if (window.kv.use_count() != 1) continue;
    window.kv.reset();
    any = true;
  }
  if (any) model_.network->release_memory();
  return any;
}

std::ptrdiff_t WindowServer::encoded_windows() const {
  const auto encoded = std::ranges::count_if(windows_, [](const auto& window) { return window.second.kv != nullptr; });
  return encoded + (ahead_ ? std::ssize(ahead_->ids) : 0);
}

/// Windows whose requests wait for a slot, and those on their way through the encoder, are encoded again when it is
/// their turn. From then on half as many are encoded while sequences step, or memory would run out once more. False:
/// there are none.
bool WindowServer::close_waiting_windows(const Error& error) {
  const auto before = encoded_windows();
  std::vector<WindowId> closed;
  for (const auto& job : batcher_.withdraw_waiting()) {
    auto& window = windows_.at(job.window_id);
    window.decodings.push_back(message_of(job));
    window.kv.reset();
    if (std::ranges::find(closed, job.window_id) == closed.end()) closed.push_back(job.window_id);
  }
  if (const auto begun = std::exchange(ahead_, std::nullopt)) {
    std::ranges::copy_if(begun->ids, std::back_inserter(closed), [&](WindowId id) { return windows_.contains(id); });
  }
  if (closed.empty()) return false;
  to_encode_.insert(to_encode_.begin(), closed.begin(), closed.end());
  most_encoded_ = std::max<std::ptrdiff_t>(1, before / 2);
  model_.network->release_memory();
  reply_(LogLine{.level = static_cast<std::uint8_t>(Level::warning),
                 .text = error.what + ": " + std::to_string(closed.size()) + " windows that wait are encoded again, " +
                         std::to_string(most_encoded_) + " at a time from now on"});
  return true;
}

/// All that waits for the window's encoding.
void WindowServer::fail_requests(WindowId id, const Error& error) {
  const auto& window = windows_.at(id);
  if (!window.opened || window.detections > 0) fail_window(id, 0, error);
  for (const auto& waiting : window.decodings) fail_window(id, waiting.request, error);
  for (const auto& waiting : window.alignments) fail_window(id, waiting.request, error);
}

/// As many as are encoded together and have one width.
std::vector<WindowId> WindowServer::next_to_encode() const {
  const auto width = [this](WindowId id) { return windows_.at(id).mel.width; };
  std::vector<WindowId> ids;
  for (const auto id : to_encode_) {
    if (std::ssize(ids) == encoded_together_ || (!ids.empty() && width(id) != width(ids.front()))) break;
    ids.push_back(id);
  }
  return ids;
}

/// then(ids, what `encode` made of their mels, the time it took) for the windows that are next, which leave the queue.
/// Where there is no memory for all of them fewer are; what fails is answered here.
template <class Encode, class Then>
void WindowServer::with_next_windows(Encode encode, Then then) {
  std::vector<WindowId> ids;
  const auto begun = clock_.now();
  auto encoded = backing_off("encoding a window", [&] {
    ids = next_to_encode();
    return encode(mels_of(ids));
  });
  if (!encoded) return encoding_failed(ids, encoded.error());
  to_encode_.erase(to_encode_.begin(), to_encode_.begin() + std::ssize(ids));
  then(std::move(ids), std::move(*encoded), Seconds(clock_.now() - begun));
}

void WindowServer::encode_next() {
  with_next_windows([&](const at::Tensor& mels) { return model_.network->encode_batch(mels); },
                    [&](std::vector<WindowId> ids, std::vector<CrossKv> kvs, Seconds took) {
                      answer_encoded(ids, std::move(kvs), took);
                    });
}

void WindowServer::begin_next() {
  with_next_windows([&](const at::Tensor& mels) { return model_.network->begin_encoding(mels); },
                    [&](std::vector<WindowId> ids, std::unique_ptr<Encoding> encoding, Seconds took) {
                      ahead_ = BegunEncoding{std::move(ids), std::move(encoding), took};
                    });
}

/// A device that fails to answer is through as well: `take` throws what happened.
bool WindowServer::begun_is_done() const {
  try {
    return ahead_->encoding->done();
  } catch (const std::exception&) {
    return true;
  }
}

/// What the device did beside decoder steps took no time of ours: only beginning and waiting count.
void WindowServer::finish_begun() {
  auto [ids, encoding, spent] = std::move(*ahead_);
  ahead_.reset();
  const auto begun = clock_.now();
  auto kvs = backing_off("encoding a window", [&] { return encoding->take(); });
  if (kvs) return answer_encoded(ids, std::move(*kvs), spent + (clock_.now() - begun));
  for (const auto id : ids) fail_encoding(id, kvs.error());
}

/// Windows that wait for memory, until a job ends and never for the control side, which may hold one window until
/// another one is answered; the others fail.
void WindowServer::encoding_failed(const std::vector<WindowId>& ids, const Error& error) {
  full_ = error.fault == Fault::exhausted && !batcher_.idle();
  if (full_) return;
  to_encode_.erase(to_encode_.begin(), to_encode_.begin() + std::ssize(ids));
  for (const auto id : ids) fail_encoding(id, error);
}

void WindowServer::fail_encoding(WindowId id, const Error& error) {
  if (!windows_.contains(id)) return;
  fail_requests(id, error);
  windows_.erase(id);
}

void WindowServer::answer_encoded(const std::vector<WindowId>& ids, std::vector<CrossKv> kvs, Seconds waited) {
  const Seconds share = waited / static_cast<double>(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (windows_.contains(ids[i])) encoded(ids[i], std::move(kvs[i]), share);
  }
}

void WindowServer::encoded(WindowId id, CrossKv kv, Seconds share) {
  auto& window = windows_.at(id);
  window.kv = std::make_shared<const CrossKv>(std::move(kv));
  window.mel.buffer.reset();
  if (!std::exchange(window.opened, true)) reply_(Opened{.window = id, .encode_seconds = share.count()});
  for (; window.detections > 0; --window.detections) answer_language(id, window);
  for (const auto& waiting : std::exchange(window.decodings, {})) submit(waiting, window);
  for (const auto& waiting : std::exchange(window.alignments, {})) answer_alignment(waiting, window);
}

void WindowServer::answer_language(WindowId id, const Window& window) {
  if (model_.languages.empty()) {
    return fail_window(id, 0, {Fault::usage, "this model knows English only: there is no language to detect"});
  }
  const auto logits = backing_off("detecting the language", [&, kv = window.kv] {
    if (!detector_) detector_ = model_.network->make_stepper(1);
    const SequenceStep sot{.tokens = std::span(&model_.sot, 1), .window = kv.get()};
    return detector_->decode(std::span(&sot, 1));
  });
  if (!logits) return fail_window(id, 0, logits.error());
  const auto chances = logits->select(0, 0).index_select(0, at::tensor(model_.languages, at::kLong)).softmax(0);
  const auto* first = chances.data_ptr<float>();
  reply_(Language{.window = id, .tokens = model_.languages, .probabilities = {first, first + model_.languages.size()}});
}

void WindowServer::answer_alignment(const AlignWindow& message, const Window& window) {
  const AlignmentText text{.sot_sequence = message.sot_sequence, .text = message.text_tokens, .frames = message.frames};
  auto dims = model_.network->dims();
  dims.n_audio_ctx = window.mel.width / 2;
  const auto valid = check(text, model_.tokens, dims);
  if (!valid) return fail_window(message.window, message.request, valid.error());
  const auto begun = clock_.now();
  auto alignment =
      backing_off("aligning words", [&, kv = window.kv] { return model_.network->align(*kv, text, model_.tokens); });
  if (!alignment) return fail_window(message.window, message.request, alignment.error());
  if (!*alignment) return fail_window(message.window, message.request, alignment->error());
  reply_(Aligned{.window = message.window,
                 .request = message.request,
                 .starts = std::move((*alignment)->starts),
                 .probabilities = std::move((*alignment)->probabilities),
                 .seconds = Seconds(clock_.now() - begun).count()});
}

void WindowServer::submit(const DecodeWindow& message, const Window& window) {
  auto job = request_of(message, window.kv);
  const auto valid = check(job, model_.network->dims(), model_.network->text_positions());
  if (!valid) return fail_window(message.window, message.request, valid.error());
  free_slots_for(job.slots());
  batcher_.submit(std::move(job));
}

std::unique_ptr<Stepper> WindowServer::make_stepper() const {
  if (!model_.deterministic) return model_.network->make_stepper(slots(), beams_);
  return std::make_unique<FixedShapeStepper>(model_.network->make_stepper(slots() + FixedShapeStepper::kRows, beams_));
}

void WindowServer::step() {
  auto finished = backing_off("decoding", [&, again = false]() mutable {
    if (std::exchange(again, true)) batcher_.restart();  // a step that threw left it halfway
    if (!stepper_) stepper_ = make_stepper();
    return batcher_.step(*stepper_);
  });
  if (!finished) finished = batcher_.fail_current(finished.error());
  if (!finished->empty()) full_ = false;
  for (const auto& job : *finished) {
    if (job.outcome) {
      reply_(answer_to(job));
    } else {
      fail_window(job.window_id, job.request, job.outcome.error());
    }
  }
}

}  // namespace tutti
