#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "audio/decode_protocol.h"
#include "audio/losses.h"
#include "audio/recording.h"
#include "audio/vad/speech_amount.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/process/child.h"
#include "base/program_paths.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr int kTickMs = 100;  // how often the caller may say that it has had enough

/// Reads `fd` as it comes, while the caller agrees. `on_bytes` takes each piece; 0 bytes: nothing within a tick.
template <class OnBytes>
Result<void> receive(int fd, std::string_view thing, OnBytes&& on_bytes) {
  std::array<std::byte, 1 << 16> block;
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kTickMs);
    ssize_t got = 0;
    if (ready > 0) {
      got = ::read(fd, block.data(), block.size());
      if (got == 0) return {};
      if (got < 0 && errno != EINTR && errno != EAGAIN) return fail_errno(thing, "cannot be read");
    }
    const auto taken = on_bytes(std::span(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
    if (!taken) return taken;
  }
}

tl::unexpected<Error> stopped(const std::string& name) {
  return fail(Fault::cancelled, name + ": decoding was stopped");
}

/// A regular file is read where it is; a pipe is copied to an unnamed file first, because containers are read back and
/// forth.
Result<OwnedFd> spooled(OwnedFd input, const std::string& name, const OnDecoded& on_decoded) {
  struct stat facts {};
  if (::fstat(input.get(), &facts) != 0) return fail_errno(name, "cannot be examined");
  if (S_ISDIR(facts.st_mode))
    return fail(Fault::usage, name + ": expected a sound file, found a folder",
                "Name the files in it, or give the folder to 'tutti batch'");
  if (S_ISREG(facts.st_mode)) return input;
  auto spool = open_unnamed_file();
  if (!spool) return spool;
  auto last_check = Clock::real().now();
  TRY(receive(input.get(), name, [&](std::span<const std::byte> bytes) -> Result<void> {
    const auto now = Clock::real().now();
    if (now - last_check >= std::chrono::milliseconds(kTickMs)) {
      last_check = now;
      if (on_decoded && !on_decoded(Seconds(0))) return stopped(name);
    }
    return write_all(spool->get(), bytes, name + ": the temporary copy");
  }));
  return spool;
}

Result<OwnedFd> open_input(const std::filesystem::path& path, const std::string& name, const OnDecoded& on_decoded) {
  // Not blocking: opening a pipe without a writer would block, and a request to stop would go unnoticed.
  OwnedFd input(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!input) return fail_errno(name, "cannot be opened");
  return spooled(std::move(input), name, on_decoded);
}

/// A program that decodes without checking is_decode_child first would start itself as its own decoder, which decodes,
/// and so on without end. Such a decoder is us with the child's argument: it refuses.
Result<void> refuse_endless_children() {
  const auto arguments = read_file("/proc/self/cmdline");  // zero-terminated, one after the other
  const std::string second = std::string(1, '\0') + std::string(kDecodeCommand) + '\0';
  if (!arguments || arguments->find(second) != arguments->find('\0')) return {};
  return fail(Fault::internal, "a decoding child was called to decode in a child of its own",
              "This program must call is_decode_child first thing in main");
}

/// The arguments of decode_recording.
struct DecodeCall {
  std::string name;
  const OnDecoded& on_decoded;
  const DecodeLimits& limits;
  const AudioChoice& choice;
};

/// What a child made of one track.
struct DecodedTrack {
  Recording recording;
  int number = 1;
  std::vector<std::string> names{};  // names of all audio tracks
};

/// One child decoding one file, seen from the parent.
class Decoding {
 public:
  Decoding(const DecodeCall& call, OwnedFd pcm, int track)
      : name_(call.name),
        pcm_(std::move(pcm)),
        on_decoded_(call.on_decoded),
        limits_(call.limits),
        choice_{.track = track, .channel = call.choice.channel} {}

  Result<DecodedTrack> run(const OwnedFd& input);

 private:
  Result<std::unique_ptr<Child>> start(const OwnedFd& input, OwnedFd& reports);
  Result<void> on_report(std::span<const std::byte> bytes);
  tl::unexpected<Error> no_answer(const ChildEnd& child) const;
  Result<DecodedTrack> finish(const ChildEnd& child);

  std::string name_;
  OwnedFd pcm_;
  const OnDecoded& on_decoded_;
  const DecodeLimits& limits_;
  const AudioChoice choice_;
  DecodeInbox inbox_;
  std::int64_t samples_ = 0;
  Clock::Instant last_report_ = Clock::real().now();
  std::optional<DecodeMessage> end_;
};

Result<std::unique_ptr<Child>> Decoding::start(const OwnedFd& input, OwnedFd& reports) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(name_, "no pipe could be made");
  reports = OwnedFd(ends[0]);
  const OwnedFd theirs(ends[1]);
  return Child::start(
      {.name = name_,
       .command = {limits_.program.empty() ? decoder_program() : limits_.program, std::string(kDecodeCommand),
                   std::filesystem::path(name_).filename().string(), std::to_string(limits_.memory.value),
                   std::to_string(choice_.track), std::to_string(choice_.channel),
                   std::string(field_names() == FieldNames::flags ? kDecodeNamesFlags : "")},
       .handed = {{theirs.get(), kDecodeReportFd}, {input.get(), kDecodeInputFd}, {pcm_.get(), kDecodePcmFd}},
       .streams = ChildStreams::errors});
}

Result<void> Decoding::on_report(std::span<const std::byte> bytes) {
  inbox_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  DecodeMessage message;
  for (;;) {
    const auto whole = inbox_.next(message);
    if (!whole) return fail_in(name_, whole.error());
    if (!*whole) break;
    if (const auto* progress = std::get_if<DecodeProgress>(&message)) {
      samples_ = progress->samples;
    } else {
      if (const auto* done = std::get_if<DecodeDone>(&message)) samples_ = done->samples;
      end_ = message;
    }
  }
  const auto now = Clock::real().now();
  if (!bytes.empty()) last_report_ = now;
  if (on_decoded_ && !on_decoded_(length_of(samples_, kModelRate))) return stopped(name_);
  if (now - last_report_ <= limits_.silence) return {};
  return fail(Fault::unavailable, name_ + ": the decoder hung at " + position_text(length_of(samples_, kModelRate)) +
                                      " (no progress for " + std::to_string(static_cast<int>(limits_.silence.count())) +
                                      " s) and was killed");
}

tl::unexpected<Error> Decoding::no_answer(const ChildEnd& child) const {
  const std::string where = " while reading " + name_ + " at " + position_text(length_of(samples_, kModelRate));
  if (child.signal == SIGKILL || child.signal == SIGTERM)
    return fail(Fault::unavailable, "the decoder was killed from outside" + where,
                "Most often the machine has run out of memory: look into the kernel's log (dmesg)");
  if (child.signal == SIGINT || child.signal == SIGHUP)  // Ctrl+C reaches the decoder as well
    return fail(Fault::unavailable, "the decoder was interrupted" + where);
  if (child.signal != 0) {
    const char* signal = ::sigabbrev_np(child.signal);
    return fail(Fault::device, "the decoder crashed with SIG" + std::string(signal ? signal : "?") + where,
                "The file makes a codec fail; converting it with another program may help");
  }
  return fail(
      Fault::internal, "the decoder ended without a result (status " + std::to_string(child.status) + ")" + where,
      "This program must call decode_audio_main when started as \"decode-audio\", or TUTTI_DECODER name one that does");
}

Result<DecodedTrack> Decoding::finish(const ChildEnd& child) {
  if (!end_) return no_answer(child);
  if (const auto* failed = std::get_if<DecodeFailed>(&*end_)) return fail_in(name_, failed->error);
  const auto& done = std::get<DecodeDone>(*end_);
  struct stat facts {};
  const auto size = done.samples * static_cast<std::int64_t>(sizeof(std::int16_t));
  if (::fstat(pcm_.get(), &facts) != 0 || facts.st_size != size)
    return fail(Fault::device, name_ + ": the decoder reports " + std::to_string(size) + " bytes of sound and wrote " +
                                   std::to_string(facts.st_size));
  return DecodedTrack{Recording(std::move(pcm_), done.samples, done.losses, done.notes, done.gaps), done.track,
                      done.tracks};
}

Result<DecodedTrack> Decoding::run(const OwnedFd& input) {
  OwnedFd reports;
  auto child = TRY(start(input, reports));
  TRY(receive(reports.get(), name_, [&](std::span<const std::byte> bytes) { return on_report(bytes); }));
  return finish(child->end(limits_.silence));
}

Result<DecodedTrack> decode_track(const DecodeCall& call, const OwnedFd& input, int track) {
  auto pcm = TRY(open_unnamed_file());
  return Decoding(call, std::move(pcm), track).run(input);
}

/// The default track holds no speech, and another may.
Result<DecodedTrack> track_with_speech(const DecodeCall& call, const OwnedFd& input, DecodedTrack usual) {
  constexpr double kClearlyMore = 3;
  const auto has = has_speech(usual.recording, call.on_decoded);
  if (!has) return fail_in(call.name, has.error());
  if (*has) return usual;
  auto most = speech_in(usual.recording, call.on_decoded);
  if (!most) return fail_in(call.name, most.error());
  most = std::max(*most * kClearlyMore, kLeastSpeech);
  const int usual_number = usual.number, tracks = static_cast<int>(usual.names.size());
  std::optional<DecodedTrack> best;
  for (int number = 1; number <= tracks; ++number) {
    if (number == usual_number) continue;
    auto other = decode_track(call, input, number);
    if (!other && other.error().fault == Fault::cancelled) return other;
    if (!other) continue;  // the default one can be decoded
    const auto speech = speech_in(other->recording, call.on_decoded);
    if (!speech) return fail_in(call.name, speech.error());
    if (*speech <= *most) continue;
    most = *speech;
    best = std::move(*other);
  }
  if (!best) return usual;
  best->recording.add_note("audio track " + std::to_string(usual_number) + " is the default one, and holds no speech");
  return std::move(*best);
}

std::string track_note(const DecodedTrack& track) {
  const auto name = [&](std::size_t i) { return track.names[i].empty() ? "" : " (" + track.names[i] + ")"; };
  const auto taken = static_cast<std::size_t>(track.number) - 1;
  std::string note = "audio track " + std::to_string(track.number) + name(taken) + " of " +
                     std::to_string(track.names.size()) + " is transcribed, and no other; " + field("track") +
                     " N chooses among";
  for (std::size_t i = 0; i < track.names.size(); ++i) note += (i ? ", " : " ") + std::to_string(i + 1) + name(i);
  return note;
}

}  // namespace

Result<Recording> decode_recording(const std::filesystem::path& path, const OnDecoded& on_decoded,
                                   const DecodeLimits& limits, const AudioChoice& choice) {
  const DecodeCall call{name_of_input(path), on_decoded, limits, choice};
  if (auto sane = refuse_endless_children(); !sane) return fail_in(call.name, sane.error());
  const auto input = TRY(open_input(path, call.name, on_decoded));
  auto track = decode_track(call, input, choice.track);
  if (track && choice.track == 0 && track->names.size() > 1) track = track_with_speech(call, input, std::move(*track));
  if (!track) return tl::unexpected<Error>(track.error());
  if (track->names.size() > 1 && static_cast<std::size_t>(track->number) <= track->names.size() && track->number > 0)
    track->recording.add_note(track_note(*track));
  return std::move(track->recording);
}

}  // namespace tutti
