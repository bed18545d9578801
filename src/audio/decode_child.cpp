#include "audio/decode_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "audio/decode_audio.h"
#include "audio/decode_protocol.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // samples
constexpr int kLeastArguments = 4;       // the program's name, the command, the file's name, most bytes of memory
constexpr auto kReportEvery = std::chrono::milliseconds(50);

void report(const DecodeMessage& message) {
  const std::string bytes = framed(message);
  // A parent that no longer listens is gone, and so are we (SIGPIPE).
  (void)write_all(kDecodeReportFd, std::as_bytes(std::span(bytes)), "report");
}

/// Reports the progress now and then, so that the parent does not take this process for stuck.
class Progress {
 public:
  void reached(std::int64_t samples) {
    samples_ = samples;
    still_alive();
  }
  void still_alive() {
    const auto now = Clock::real().now();
    if (now - reported_ < kReportEvery) return;
    reported_ = now;
    report(DecodeProgress{samples_});
  }

 private:
  std::int64_t samples_ = 0;
  Clock::Instant reported_{};
};

/// The parent's file. Reading on in it is progress too: a film may have gigabytes of picture between two pieces of
/// audio.
class WatchedBytes final : public ByteSource {
 public:
  WatchedBytes(ByteSource& bytes, Progress& progress) : bytes_(bytes), progress_(progress) {}
  std::int64_t size() const override { return bytes_.size(); }
  Result<std::size_t> read_at(std::int64_t offset, std::span<std::byte> out) override {
    const auto got = bytes_.read_at(offset, out);
    const std::int64_t end = offset + static_cast<std::int64_t>(got.value_or(0));
    if (end > furthest_) progress_.still_alive();
    furthest_ = std::max(furthest_, end);
    return got;
  }

 private:
  ByteSource& bytes_;
  Progress& progress_;
  std::int64_t furthest_ = 0;
};

/// Writes samples to the parent's file in large blocks.
class PcmFile final : public PcmSink {
 public:
  explicit PcmFile(Progress& progress) : progress_(progress) {}

  Result<void> take(std::span<const std::int16_t> pcm) override {
    block_.insert(block_.end(), pcm.begin(), pcm.end());
    return block_.size() < kBlock ? Result<void>{} : flush();
  }

  Result<void> cut(std::int64_t samples) override {
    if (auto flushed = flush(); !flushed) return flushed;
    written_ = samples;
    const auto size = static_cast<off_t>(samples * static_cast<std::int64_t>(sizeof(std::int16_t)));
    if (::ftruncate(kDecodePcmFd, size) == 0 && ::lseek(kDecodePcmFd, size, SEEK_SET) == size) return {};
    return fail_errno(kThing, "cannot be cut");
  }

  Result<void> flush() {
    if (auto wrote = write_all(kDecodePcmFd, std::as_bytes(std::span(block_)), kThing); !wrote) return wrote;
    written_ += static_cast<std::int64_t>(block_.size());
    block_.clear();
    progress_.reached(written_);
    return {};
  }

 private:
  static constexpr const char* kThing = "the temporary file for decoded sound";
  Progress& progress_;
  std::vector<std::int16_t> block_;
  std::int64_t written_ = 0;
};

/// Limits what is mapped from now on: the program itself (with a sanitizer, terabytes of shadow memory) does not count.
void limit_memory(unsigned long long most) {
  if (most == 0) return;
  unsigned long long pages = 0;
  if (const auto statm = read_file("/proc/self/statm")) pages = std::strtoull(statm->c_str(), nullptr, 10);
  const auto whole = pages * static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE)) + most;
  const rlimit limit{whole, whole};
  ::setrlimit(RLIMIT_AS, &limit);
}

Result<DecodedAudio> decode(const std::string& name, const AudioChoice& choice) {
  auto bytes = TRY(FileBytes::over(kDecodeInputFd));
  Progress progress;
  WatchedBytes watched(bytes, progress);
  PcmFile pcm(progress);
  auto decoded = decode_audio(watched, name, pcm, choice);
  if (!decoded) return decoded;
  return pcm.flush().map([&] { return *decoded; });
}

}  // namespace

bool is_decode_child(int argc, const char* const* argv) {
  return argc >= kLeastArguments && argv[1] == kDecodeCommand;
}

int decode_audio_main(int argc, const char* const* argv) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  limit_memory(std::strtoull(argv[3], nullptr, 10));
  try {
    AudioChoice choice;
    if (argc > kLeastArguments) choice.track = std::atoi(argv[kLeastArguments]);
    if (argc > kLeastArguments + 1) choice.channel = std::atoi(argv[kLeastArguments + 1]);
    const bool has_flags = argc > kLeastArguments + 2 && argv[kLeastArguments + 2] == kDecodeNamesFlags;
    set_field_names(has_flags ? FieldNames::flags : FieldNames::fields);
    const auto decoded = decode(argv[2], choice);
    if (decoded)
      report(*decoded);
    else
      report(DecodeFailed{decoded.error()});
  } catch (const std::bad_alloc&) {
    report(DecodeFailed{{Fault::exhausted, "decoding it takes more memory than a decoder may have"}});
  }
  // Codecs' own clean-up at exit is one more thing that can crash.
  ::_exit(0);
}

}  // namespace tutti
