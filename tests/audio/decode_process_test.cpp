#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <fstream>

#include "audio/decode_protocol.h"
#include "audio/recording.h"
#include "base/process/child.h"
#include "samples.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// A one-line shell script that replaces the decoding child.
fs::path script(const TempFolder& folder, const std::string& line) {
  const fs::path path = folder / "decoder";
  std::ofstream(path) << "#!/bin/sh\n" << line << "\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

/// The message as a file that a script can send with `cat FILE >&3`.
std::string message_file(const TempFolder& folder, const DecodeMessage& message) {
  const fs::path path = folder / "message";
  EXPECT_TRUE(write_file_atomically(path, framed(message)));
  return path.string();
}

Error error_of(const TempFolder& folder, const fs::path& audio, const DecodeLimits& limits) {
  const auto recording = decode_recording(audio, {}, limits);
  EXPECT_FALSE(recording) << folder.path();
  return recording ? Error{} : recording.error();
}

}  // namespace

TEST(DecodeProcess, CodecCrashFailsOneFileAndNamesPosition) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const auto reported = message_file(folder, DecodeProgress{16000 * 62});
  const Error error = error_of(folder, audio, {.program = script(folder, "cat '" + reported + "' >&3; kill -SEGV $$")});
  EXPECT_EQ(error.fault, Fault::device);
  EXPECT_THAT(error.what, HasSubstr("crashed with SIGSEGV while reading " + audio.string() + " at 00:01:02"));
}

TEST(DecodeProcess, HungDecoderIsKilledAndErrorNamesPosition) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const Error error = error_of(folder, audio, {.silence = Seconds(0.2), .program = script(folder, "exec sleep 1000")});
  EXPECT_EQ(error.fault, Fault::unavailable) << "more often a disk that does not answer than a codec";
  EXPECT_THAT(error.what, HasSubstr(audio.string() + ": the decoder hung at 00:00:00"));
}

TEST(DecodeProcess, ADecoderThatIsKilledFromOutsideIsNotTheRecordingsFault) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const Error error = error_of(folder, audio, {.program = script(folder, "kill -KILL $$")});
  EXPECT_EQ(error.fault, Fault::unavailable);
  EXPECT_THAT(error.text(), HasSubstr("out of memory"));
}

TEST(DecodeProcess, ADecoderThatTheTerminalInterruptsIsNotTheRecordingsFault) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  for (const char* signal : {"INT", "HUP"}) {
    const auto decoder = script(folder, std::string("kill -") + signal + " $$");
    const Error error = error_of(folder, audio, {.program = decoder});
    EXPECT_EQ(error.fault, Fault::unavailable) << signal;
    EXPECT_THAT(error.what, HasSubstr("the decoder was interrupted while reading " + audio.string()));
  }
}

TEST(DecodeProcess, AGarbledReportIsAnError) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const Error error = error_of(folder, audio, {.program = script(folder, "yes garble | head -c 100000 >&3")});
  EXPECT_EQ(error.fault, Fault::device);
  EXPECT_THAT(error.what, HasSubstr("garbled"));
}

TEST(DecodeProcess, AProgramThatIsNoDecoderIsNamedAsSuch) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  EXPECT_EQ(error_of(folder, audio, {.program = script(folder, "exit 7")}).fault, Fault::internal);
  EXPECT_THAT(error_of(folder, audio, {.program = folder / "absent"}).what, HasSubstr("absent"));
}

TEST(DecodeProcess, ProgramWithoutDecoderEntryDoesNotRecurse) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  ::setenv("TUTTI_TEST_FORGETFUL", "1", 1);
  const Error error = error_of(folder, audio, {});
  ::unsetenv("TUTTI_TEST_FORGETFUL");
  EXPECT_EQ(error.fault, Fault::internal);
  EXPECT_THAT(error.what, HasSubstr("status 42"));
}

TEST(DecodeProcess, AReportOfMoreAudioThanWasWrittenIsAnError) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const auto reported = message_file(folder, DecodeDone{.samples = 5});
  EXPECT_THAT(error_of(folder, audio, {.program = script(folder, "cat '" + reported + "' >&3")}).what,
              HasSubstr("reports 10 bytes of sound and wrote 0"));
}

TEST(DecodeProcess, TheCallerCanStopIt) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(1000));
  const auto recording =
      decode_recording(audio, [](Seconds) { return false; }, {.program = script(folder, "exec sleep 1000")});
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().fault, Fault::cancelled);
}

TEST(DecodeProcess, CallerReceivesProgressUpToTheFullLength) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "long.wav", std::vector<std::int16_t>(16000 * 600));
  Seconds last{0};
  const auto recording = decode_recording(audio, [&](Seconds decoded) {
    EXPECT_GE(decoded, last);
    last = decoded;
    return true;
  });
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(recording->duration(), Seconds(600));
  EXPECT_EQ(last, Seconds(600));
}

TEST(DecodeProcess, FullDiskIsReportedAsFull) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "loud.wav", noise(100000));
  const OwnedFd input(::open(audio.c_str(), O_RDONLY | O_CLOEXEC)), full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const OwnedFd reports(ends[0]);
  OwnedFd theirs(ends[1]);
  auto child = Child::start(
      {.name = "decoder",
       .command = {"/proc/self/exe", std::string(kDecodeCommand), "loud.wav", "0"},
       .handed = {{theirs.get(), kDecodeReportFd}, {input.get(), kDecodeInputFd}, {full.get(), kDecodePcmFd}},
       .streams = ChildStreams::errors});
  ASSERT_TRUE(child) << child.error().text();
  theirs = OwnedFd();
  DecodeInbox inbox;
  std::array<char, 4096> block;
  for (ssize_t got; (got = ::read(reports.get(), block.data(), block.size())) > 0;)
    inbox.add({block.data(), static_cast<std::size_t>(got)});
  DecodeMessage message;
  do ASSERT_TRUE(inbox.next(message).value()) << "ended without saying why";
  while (std::holds_alternative<DecodeProgress>(message));
  ASSERT_TRUE(std::holds_alternative<DecodeFailed>(message));
  EXPECT_EQ(std::get<DecodeFailed>(message).error.fault, Fault::full);
  EXPECT_EQ((*child)->end(Seconds(60)).words, "exited with status 0");
}

TEST(DecodeProcess, ADecoderThatWantsMoreMemoryThanItMayHaveFailsAlone) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "some.mp3", std::string(1000, 'x')));  // FFmpeg's libraries must be loaded
  const auto limited = decode_recording(folder / "some.mp3", {}, {.memory = Bytes{64 << 20}});
  ASSERT_FALSE(limited);
  EXPECT_THAT(limited.error().what, HasSubstr("could not be loaded"));
  const fs::path audio = write_wav(folder / "loud.wav", noise(100000));
  EXPECT_TRUE(decode_recording(audio, {}, {.memory = Bytes{64 << 20}}));
}

TEST(DecodeProtocol, MessagesSurviveThePipeInAnyPieces) {
  const std::string bytes = framed(DecodeProgress{7}) + framed(DecodeDone{.samples = 9, .losses = {"one", "two"}}) +
                            framed(DecodeFailed{{Fault::corrupt, "a", "b"}});
  DecodeInbox inbox;
  std::vector<DecodeMessage> found;
  for (const char byte : bytes) {
    inbox.add({&byte, 1});
    DecodeMessage message;
    while (inbox.next(message).value()) found.push_back(message);
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(std::get<DecodeProgress>(found[0]).samples, 7);
  EXPECT_THAT(std::get<DecodeDone>(found[1]).losses, testing::ElementsAre("one", "two"));
  EXPECT_EQ(std::get<DecodeFailed>(found[2]).error.hint, "b");
}

TEST(DecodeProtocol, ALengthBeyondReasonIsGarbledBeforeItIsWaitedFor) {
  DecodeInbox inbox;
  inbox.add("\xff\xff\xff\x7f");
  DecodeMessage message;
  EXPECT_FALSE(inbox.next(message));
}
