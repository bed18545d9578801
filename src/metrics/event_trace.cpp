#include "metrics/event_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "base/environment.h"
#include "base/files.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostRows = 1023;            // of a process: the last ten bits of a sequence
constexpr std::uint32_t kMostProcesses = 1'000'000;  // ever: retries of workers, too
constexpr std::size_t kFull = 16 << 10;              // bytes of a row, then they are written
constexpr std::chrono::seconds kOld{1};              // or so long after the last time
constexpr const char* kEnding = ".pftrace";

/// Of a row; row 0 is the process itself. Numbers are small, for each event has one.
std::uint32_t sequence_of(std::uint32_t process, std::uint32_t row) {
  return process << 10 | row;
}

/// A new file with the least number that no process has taken.
std::pair<OwnedFd, std::uint32_t> new_part(const fs::path& folder) {
  for (std::uint32_t number = 1; number <= kMostProcesses; ++number) {
    const fs::path file = folder / (std::to_string(number) + kEnding);
    OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (fd || errno != EEXIST) return {std::move(fd), number};
  }
  return {};
}

std::string program_name() {
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  return program.empty() ? "tutti" : program.filename().string();
}

}  // namespace

std::unique_ptr<EventTrace::Row> EventTrace::row_of_process(const std::string& name) {
  static const std::unique_ptr<EventTrace> trace = [] {
    const auto folder = variable(kTraceVariable);
    return folder ? std::make_unique<EventTrace>(*folder, program_name()) : nullptr;
  }();
  return trace ? std::make_unique<Row>(*trace, name) : nullptr;
}

EventTrace::EventTrace(const fs::path& folder, std::string_view name) {
  std::tie(file_, process_) = new_part(folder);
  const std::string process = perfetto_process(sequence_of(process_, 0), ::getpid(), name);
  if (file_) (void)write_all(file_.get(), std::as_bytes(std::span(process)), folder.string());
}

std::unique_ptr<PerfettoTrack> EventTrace::take_row(const std::string& name) {
  return rows_.with([&](Rows& rows) -> std::unique_ptr<PerfettoTrack> {
    Tracks& unused = rows.unused[name];
    if (!unused.empty()) {
      auto track = std::move(unused.back());
      unused.pop_back();
      return track;
    }
    if (!file_ || rows.count == kMostRows) return nullptr;
    const int number = ++rows.made[name];
    return std::make_unique<PerfettoTrack>(sequence_of(process_, ++rows.count), sequence_of(process_, 0),
                                           name + (number > 1 ? " " + std::to_string(number) : ""));
  });
}

void EventTrace::return_row(const std::string& name, std::unique_ptr<PerfettoTrack> track) {
  write(*track);
  rows_.with([&](Rows& rows) { rows.unused[name].push_back(std::move(track)); });
}

/// With one call, which appends it whole: rows of other threads do not get in between.
void EventTrace::write(PerfettoTrack& track) const {
  const std::string packets = track.take();
  (void)!::write(file_.get(), packets.data(), packets.size());
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

Result<fs::path> join_traces(const fs::path& folder, const std::string& command) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == kEnding) parts.push_back(entry.path());
  if (parts.empty())
    return fail(Fault::missing, "nothing was traced: the command ran no stage",
                "Give it files that it can work on, and more time");
  std::ranges::sort(parts);
  const fs::path joined = folder / "joined";
  const OwnedFd out(::open(joined.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out) return fail_errno(joined.string(), "cannot be created");
  const std::string first =
      perfetto_process(sequence_of(0, 1), ::getpid(), program_name(), std::string(kPerfettoMark) + ": " + command);
  if (auto written = write_all(out.get(), std::as_bytes(std::span(first)), joined.string()); !written)
    return tl::unexpected(written.error());
  for (const fs::path& part : parts) {
    const auto packets = MappedFile::open(part);
    if (!packets) return tl::unexpected(packets.error());
    if (auto written = write_all(out.get(), packets->bytes(), joined.string()); !written)
      return tl::unexpected(written.error());
  }
  return joined;
}

}  // namespace tutti
