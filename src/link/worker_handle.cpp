#include "link/worker_handle.h"

#include <sys/eventfd.h>

#include <chrono>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/try.h"

namespace tutti {
namespace {

template <class Wanted>
Result<Wanted> only(WindowTable::Reply reply) {
  if (!reply) return tl::unexpected<Error>(std::move(reply.error()));
  return std::get<Wanted>(std::move(*reply));
}

}  // namespace

Result<std::unique_ptr<WorkerHandle>> WorkerHandle::start(WorkerOptions options) {
  OwnedFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail_errno(options.name, "could not be started");
  return std::unique_ptr<WorkerHandle>(new WorkerHandle(std::move(options), std::move(wake)));
}

WorkerHandle::WorkerHandle(WorkerOptions options, OwnedFd wake)
    : options_(std::move(options)),
      wake_(std::move(wake)),
      supervisor_(options_, state_, wake_.get()),
      thread_([this] { supervisor_.run(); }) {}

WorkerHandle::~WorkerHandle() {
  stop();
}

void WorkerHandle::wake() const {
  ::eventfd_write(wake_.get(), 1);
}

Result<Ready> WorkerHandle::ready() {
  return state_.wait([](const WorkerState& state) { return state.ready || state.ended; },
                     [](WorkerState& state) -> Result<Ready> {
                       if (state.ended) return tl::unexpected<Error>(*state.ended);
                       return *state.ready;
                     });
}

Result<Opened> WorkerHandle::open(const OpenWindow& facts, std::span<const float> mel) {
  if (facts.n_mels < 0 || facts.frames <= 0 || facts.values() != static_cast<std::int64_t>(mel.size()))
    return fail(Fault::internal, "window " + std::to_string(facts.window) + ": expected " +
                                     std::to_string(facts.n_mels) + " x " + std::to_string(facts.frames) +
                                     " mel values, found " + std::to_string(mel.size()));
  auto memory = TRY(SharedWindow::create(mel));
  return only<Opened>(submit(facts, std::make_shared<const SharedWindow>(std::move(memory))));
}

Result<Language> WorkerHandle::detect_language(WindowId window) {
  return only<Language>(submit(DetectLanguage{window}));
}

Result<Decoded> WorkerHandle::decode(const DecodeWindow& request) {
  return only<Decoded>(submit(request));
}

Result<Aligned> WorkerHandle::align(const AlignWindow& request) {
  return only<Aligned>(submit(request));
}

Result<Transcribed> WorkerHandle::transcribe(const TranscribeWindow& request) {
  return only<Transcribed>(submit(request));
}

Result<SpeakersAnalyzed> WorkerHandle::analyze_speakers(const AnalyzeSpeakers& request, std::span<const float> inputs) {
  if (inputs.empty() || request.values() != static_cast<std::int64_t>(inputs.size()))
    return fail(Fault::internal, "speakers: expected " + std::to_string(request.values()) + " values, found " +
                                     std::to_string(inputs.size()));
  auto memory = TRY(SharedWindow::create(inputs));
  return only<SpeakersAnalyzed>(submit(request, std::make_shared<const SharedWindow>(std::move(memory))));
}

void WorkerHandle::release(WindowId window) {
  const auto memory = state_.with([&](WorkerState& state) { return state.table.release(window); });
  wake();
}

void WorkerHandle::cancel(WindowId window) {
  state_.change([&](WorkerState& state) { state.table.cancel(window, {Fault::cancelled, "its caller has left"}); });
}

WindowTable::Reply WorkerHandle::submit(const WindowTable::Request& request, WindowTable::Memory memory) {
  const WindowId window = std::visit([](const auto& requested) { return requested.window; }, request);
  TRY(state_.with([&](WorkerState& state) { return state.table.submit(request, std::move(memory)); }));
  wake();
  return state_.wait([&](const WorkerState& state) { return state.table.answered(window); },
                     [&](WorkerState& state) { return state.table.take(window); });
}

void WorkerHandle::stop(Seconds grace) {
  const auto until = Clock::real().now() + std::chrono::duration_cast<Clock::Instant::duration>(grace);
  state_.with([&](WorkerState& state) {
    if (!state.stop_at || until < *state.stop_at) state.stop_at = until;
  });
  wake();
}

std::optional<int> WorkerHandle::process() const {
  return state_.with([](const WorkerState& state) { return state.process; });
}

std::optional<Error> WorkerHandle::ended() const {
  return state_.with([](const WorkerState& state) { return state.ended; });
}

bool WorkerHandle::ended_unclearly() const {
  return state_.with([](const WorkerState& state) { return state.ended_unclearly; });
}

bool WorkerHandle::has_finished_work() const {
  return state_.with([](const WorkerState& state) { return state.table.has_finished_work(); });
}

}  // namespace tutti
