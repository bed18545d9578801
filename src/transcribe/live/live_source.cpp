#include "transcribe/live/live_source.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr const char* kMicrophone = "mic";

bool is_address(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

std::vector<std::string> command_of(const std::string& source) {
  if (is_address(source))
    return {"ffmpeg", "-nostdin", "-loglevel", "error", "-i", source,  "-vn",
            "-ac",    "1",        "-ar",       "16000", "-f", "s16le", "-"};
  std::vector<std::string> command{"arecord", "-q", "-t", "raw", "-f", "S16_LE", "-c", "1", "-r", "16000"};
  const auto colon = source.find(':');
  if (colon != std::string::npos) command.insert(command.end(), {"-D", source.substr(colon + 1)});
  return command;
}

}  // namespace

Result<LiveSource> LiveSource::open(const std::string& source, std::optional<Hertz> rate) {
  LiveSource opened;
  opened.rate_ = rate;
  const bool is_microphone = source == kMicrophone || source.starts_with(std::string(kMicrophone) + ":");
  if (is_microphone || is_address(source)) {
    if (rate) return fail(Fault::usage, field("rate") + ": " + source + " has its own", "Leave it out");
    opened.name_ = is_microphone ? "the microphone" + source.substr(std::string(kMicrophone).size()) : source;
    opened.rate_ = kModelRate;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(source, "no pipe to read from");
    opened.file_ = OwnedFd(ends[0]);
    const OwnedFd theirs(ends[1]);
    ChildOptions options{.name = opened.name_, .command = command_of(source)};
    options.handed.emplace_back(theirs.get(), STDOUT_FILENO);
    options.streams = ChildStreams::errors;
    const std::string program = options.command[0];
    auto child = Child::start(options);
    if (!child && child.error().fault == Fault::missing)
      return fail(Fault::missing, opened.name_ + ": " + program + " is not installed",
                  is_microphone ? "It is in the package alsa-utils" : "It is in the package ffmpeg");
    if (!child) return tl::unexpected<Error>(child.error());
    opened.child_ = std::move(*child);
    return opened;
  }
  opened.name_ = source == "-" ? "standard input" : source;
  if (source == "-" && ::isatty(STDIN_FILENO) == 1)
    return fail(Fault::usage, "standard input is a terminal: expected audio",
                "Take mic for a microphone, or pipe audio in: ffmpeg -i SOURCE -f wav - | tutti listen --model M -");
  std::error_code ignored;
  if (std::filesystem::is_directory(source, ignored))
    return fail(Fault::usage, source + ": expected audio, found a folder");
  opened.file_ =
      OwnedFd(source == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.file_) return fail_errno(opened.name_, "cannot be opened");
  return opened;
}

Result<bool> LiveSource::read(int stop, Seconds stall, const std::function<void()>& on_stall,
                              const std::function<Result<void>(std::span<const std::byte>)>& take) {
  std::array<std::byte, 1 << 15> block;
  bool stalls = false;
  for (;;) {
    std::array<pollfd, 2> waiting{
        {{.fd = file_.get(), .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(waiting.data(), waiting.size(), stalls ? -1 : static_cast<int>(stall.count() * 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail_errno(name_, "cannot be waited for");
    if (waiting[1].revents != 0) return false;
    if (ready == 0) {
      stalls = true;
      on_stall();
      continue;
    }
    const ssize_t got = ::read(file_.get(), block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail_errno(name_, "cannot be read");
    if (got == 0) return true;
    stalls = false;
    TRY(take(std::span(block).first(static_cast<std::size_t>(got))));
  }
}

Result<void> LiveSource::close() {
  file_ = OwnedFd();
  if (!child_) return {};
  const ChildEnd& end = child_->end(Seconds(1));
  if (end.status == 0 && end.signal == 0) return {};
  return fail(Fault::unavailable, name_ + ": its audio ended: the program that reads it " + end.words);
}

}  // namespace tutti
