#include "metrics/event_trace.h"

#include <unistd.h>

#include <utility>

#include "base/program_paths.h"
#include "metrics/recording_request.h"

namespace tutti {
namespace {

constexpr std::uint32_t kMostRows = 1023;                 // of a process: the last ten bits of a sequence
constexpr std::uint32_t kMostProcesses = (1U << 22) - 1;  // ever: retries of workers, too
constexpr std::size_t kFull = 16 << 10;                   // bytes of a row, then they are written
constexpr std::chrono::seconds kOld{1};                   // or so long after the last time

/// Of a row; row 0 is the process itself. Numbers are small, for each event has one.
std::uint32_t sequence_of(std::uint32_t process, std::uint32_t row) {
  return process << 10 | row;
}

std::string program_name() {
  const auto& program = program_paths().self;
  return program.empty() ? "tutti" : program.filename().string();
}

}  // namespace

std::unique_ptr<EventTrace::Row> EventTrace::row_of_process(const std::string& name) {
  static const std::unique_ptr<EventTrace> trace = [] {
    auto shared = SharedTrace::at(recording_request().trace);
    return shared ? std::make_unique<EventTrace>(std::move(shared), program_name()) : nullptr;
  }();
  return trace ? std::make_unique<Row>(*trace, name) : nullptr;
}

EventTrace::EventTrace(std::unique_ptr<SharedTrace> trace, std::string_view name)
    : trace_(std::move(trace)), process_(trace_->take_process_number()) {
  trace_->append(perfetto_process(sequence_of(process_, 0), ::getpid(), name));
}

std::unique_ptr<PerfettoTrack> EventTrace::take_row(const std::string& name) {
  return rows_.with([&](Rows& rows) -> std::unique_ptr<PerfettoTrack> {
    Tracks& unused = rows.unused[name];
    if (!unused.empty()) {
      auto track = std::move(unused.back());
      unused.pop_back();
      return track;
    }
    if (process_ > kMostProcesses || rows.count == kMostRows) return nullptr;
    const int number = ++rows.made[name];
    return std::make_unique<PerfettoTrack>(sequence_of(process_, ++rows.count), sequence_of(process_, 0),
                                           name + (number > 1 ? " " + std::to_string(number) : ""));
  });
}

void EventTrace::return_row(const std::string& name, std::unique_ptr<PerfettoTrack> track) {
  write(*track);
  rows_.with([&](Rows& rows) { rows.unused[name].push_back(std::move(track)); });
}

void EventTrace::write(PerfettoTrack& track) const {
  trace_->append(track.take());
}

EventTrace::Row::Row(EventTrace& trace, std::string name)
    : trace_(trace), name_(std::move(name)), track_(trace.take_row(name_)) {}

EventTrace::Row::~Row() {
  if (track_) trace_.return_row(name_, std::move(track_));
}

void EventTrace::Row::slice(std::string_view name, Clock::Instant start, Clock::Instant end) {
  if (!track_) return;
  track_->slice(name, start.time_since_epoch(), end.time_since_epoch());
  if (track_->size() >= kFull || end - written_ >= kOld) write();
}

void EventTrace::Row::write() {
  if (track_) trace_.write(*track_);
  written_ = Clock::real().now();
}

std::string trace_head(const std::string& command) {
  return perfetto_process(sequence_of(0, 1), ::getpid(), program_name(), std::string(kPerfettoMark) + ": " + command);
}

}  // namespace tutti
