#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <thread>

#include "audio/byte_source.h"
#include "audio/decode_audio.h"
#include "audio/recording.h"
#include "samples.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

/// In which formats the reading is there: in all of them in the shared data, in the small ones in the project's own
/// copy.
std::vector<std::string> endings_of_sonnet() {
  std::vector<std::string> endings;
  for (const char* ending : {"aac", "aiff", "flac", "mp3", "mp4", "ogg", "wav", "webm"})
    if (fs::exists(test_data() / "formats/sonnet" / ("p001." + std::string(ending)))) endings.emplace_back(ending);
  EXPECT_GE(endings.size(), fs::exists(shared_data() / "formats/sonnet") ? 8U : 6U);
  return endings;
}

/// Holds decoded audio in memory.
class PcmInMemory final : public PcmSink {
 public:
  Result<void> take(std::span<const std::int16_t> pcm) override {
    pcm_.insert(pcm_.end(), pcm.begin(), pcm.end());
    return {};
  }
  Result<void> cut(std::int64_t samples) override {
    pcm_.resize(static_cast<std::size_t>(samples));
    return {};
  }
  const std::vector<std::int16_t>& pcm() const { return pcm_; }

 private:
  std::vector<std::int16_t> pcm_;
};

/// A named pipe that delivers the content once, from a thread of its own.
class Pipe {
 public:
  Pipe(const fs::path& path, const std::string& content) : path_(path) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("no pipe: " + path.string());
    writer_ = std::jthread([path, content] {
      const OwnedFd out(::open(path.c_str(), O_WRONLY));
      (void)write_all(out.get(), std::as_bytes(std::span(content)), "pipe");
    });
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::jthread writer_;
};

}  // namespace

TEST(Damage, PipeWithoutWriterCanBeCancelled) {
  const TempFolder folder;
  const auto path = folder / "silent.wav";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int calls = 0;
  const auto recording = decode_recording(path, [&](Seconds) { return ++calls < 2; });
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().fault, Fault::cancelled);
}

TEST(Damage, EveryAudioFileOfEveryFormatAndWidthDecodes) {
  TUTTI_NEEDS("formats");
  int decoded = 0;
  for (const fs::path& file : files_in(test_data() / "formats")) {
    if (file.extension() == ".empty" || file.extension() == ".txt") continue;
    const auto recording = decode_recording(file);
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_GT(recording->samples(), 0) << file;
    ++decoded;
  }
  EXPECT_GE(decoded, fs::exists(shared_data() / "formats") ? 38 : 26) << "the project's own copy is smaller";
}

TEST(Damage, AnEmptyFileATextAndAFolderAreErrorsThatNameThem) {
  TUTTI_NEEDS("formats/sonnet");
  const fs::path sonnet = test_data() / "formats/sonnet";
  EXPECT_THAT(decode_recording(sonnet / "p001.empty").error().what, HasSubstr("p001.empty: the file is empty"));
  EXPECT_THAT(decode_recording(sonnet / "p001.txt").error().what, HasSubstr("p001.txt: holds no audio"));
  EXPECT_THAT(decode_recording(sonnet).error().what, HasSubstr("found a folder"));
  EXPECT_EQ(decode_recording(sonnet / "absent.wav").error().fault, Fault::missing);
}

TEST(Damage, DamagedFileIsWholeOrFailsOrReportsLosses) {
  TUTTI_NEEDS("damaged");
  // Only the headers of these are wrong; the length is that of all their frames. The last one is a whole file of 4
  // samples, followed by a fuzzed chunk.
  const std::map<std::string, std::int64_t> whole{{"mono.16000.wav", 852266},
                                                  {"mono.22050.wav", 852266},
                                                  {"01 - wrong max blocksize.flac", 68000},
                                                  {"02 - wrong maximum framesize.flac", 71072},
                                                  {"03 - wrong bit depth.flac", 59936},
                                                  {"04 - wrong number of channels.flac", 64928},
                                                  {"05 - wrong total number of samples.flac", 72992},
                                                  {"crash-e5471f5b58397287b509db7d026e95f1724454f5.wav", 1}};
  for (const fs::path& file : files_in(test_data() / "damaged")) {
    const auto recording = decode_recording(file);
    if (const auto known = whole.find(file.filename()); known != whole.end()) {
      ASSERT_TRUE(recording) << recording.error().text();
      EXPECT_EQ(recording->samples(), known->second) << file;
    } else if (recording) {
      EXPECT_THAT(recording->losses(), testing::Not(testing::IsEmpty())) << file;
    } else {
      EXPECT_EQ(recording.error().fault, Fault::corrupt) << recording.error().text();
      EXPECT_THAT(recording.error().what, HasSubstr(file.filename().string()));
    }
  }
}

TEST(Damage, AFileCutInTheMiddleNeverPassesForWhole) {
  TUTTI_NEEDS("formats/sonnet");
  const TempFolder folder;
  for (const std::string& ending : endings_of_sonnet()) {
    const fs::path path = folder / ("cut." + ending);
    const std::string bytes = read_file(test_data() / "formats/sonnet" / ("p001." + ending)).value();
    ASSERT_TRUE(write_file_atomically(path, bytes.substr(0, bytes.size() / 8192 * 4096)));
    const auto recording = decode_recording(path);
    if (recording) {
      EXPECT_THAT(recording->losses(), testing::Not(testing::IsEmpty())) << path;
      EXPECT_LT(recording->samples(), 140000) << path;
    } else {
      EXPECT_EQ(recording.error().fault, Fault::corrupt) << recording.error().text();
    }
  }
}

TEST(Damage, FlippedByteInFlacFrameIsReportedAsLoss) {
  TUTTI_NEEDS("formats/widths");
  const TempFolder folder;
  std::string bytes = read_file(test_data() / "formats/widths/audio-mono-16-bit-44100Hz.flac").value();
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  ASSERT_TRUE(write_file_atomically(folder / "flipped.flac", bytes));
  const auto recording = decode_recording(folder / "flipped.flac");
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_THAT(recording->losses(), testing::Contains(HasSubstr("at 00:00:01.")));
}

TEST(Damage, WavDataBeyondHeaderLengthIsReported) {
  const TempFolder folder;
  const auto wav = write_wav(folder / "talk.wav", noise(48000));
  std::string content = read_file(wav).value();
  EXPECT_THAT(decode_recording(wav).value().losses(), testing::IsEmpty());
  for (const char* behind : {"LIST\xc0\xda\0\0", "TAG of music"})  // a chunk of 56,000 bytes, and what some append
    for (const std::size_t size : {40000U, 39999U}) {
      std::string tagged = content;
      tagged.replace(40, 4, std::string({static_cast<char>(size & 255), static_cast<char>(size >> 8), 0, 0}));
      tagged.replace(44 + size, 8, std::string(behind, 8));
      if (*behind == 'T') tagged.resize(44 + size + 128);
      ASSERT_TRUE(write_file_atomically(wav, tagged));
      EXPECT_THAT(decode_recording(wav).value().losses(), testing::IsEmpty()) << behind << size;
    }
  content.replace(40, 4, std::string("\x40\x9C\0\0", 4));  // 40,000 of 96,000 bytes
  ASSERT_TRUE(write_file_atomically(wav, content));
  const auto recording = decode_recording(wav);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->samples(), 20000);
  ASSERT_EQ(recording->losses().size(), 1U);
  EXPECT_THAT(recording->losses()[0], testing::AllOf(HasSubstr("at 00:00:01.2"), HasSubstr("promises 40000 bytes"),
                                                     HasSubstr("56000 bytes (about 1.8 s) more follow")));
}

TEST(Damage, IsNotReportedOfWholeFiles) {
  const auto data = std::filesystem::path(TUTTI_SOURCE_DIR) / "tests/data/audio";
  for (const auto& [name, length] : {std::pair("late.asf", 2.5), {"flac.nut", 1.0}, {"cut-of-a-longer.opus", 2.0}}) {
    const auto recording = decode_recording(data / "outside" / name);
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_THAT(recording->losses(), testing::IsEmpty()) << name;
    EXPECT_NEAR(recording->duration().count(), length, 0.1) << name;
  }
}

TEST(Damage, AnAbsurdSampleRateIsRefusedBeforeAnythingIsBuiltForIt) {
  const TempFolder folder;
  for (const std::uint32_t rate : {1U, 99U, 0x4000bb80U, 0x7fffffffU}) {
    const auto recording = decode_recording(write_wav(folder / "absurd.wav", noise(2000), rate));
    ASSERT_FALSE(recording) << rate;
    EXPECT_EQ(recording.error().fault, Fault::corrupt);
    EXPECT_THAT(recording.error().what, HasSubstr("claims " + std::to_string(rate) + " samples a second"));
  }
}

TEST(Damage, APlaylistIsNotFollowed) {
  const TempFolder folder;
  const fs::path audio = write_wav(folder / "sound.wav", noise(16000));
  std::ofstream(folder / "list.m3u8") << "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n"
                                      << audio.string() << "\n#EXT-X-ENDLIST\n";
  std::ofstream(folder / "list.ffconcat") << "ffconcat version 1.0\nfile '" << audio.string() << "'\n";
  EXPECT_EQ(decode_recording(folder / "list.m3u8").error().fault, Fault::corrupt);
  EXPECT_EQ(decode_recording(folder / "list.ffconcat").error().fault, Fault::corrupt);
}

TEST(Decode, AFileAPipeAndMemoryGiveTheSameAudio) {
  TUTTI_NEEDS("formats/sonnet");
  const TempFolder folder;
  for (const std::string& ending : endings_of_sonnet()) {
    if (ending == "aac" || ending == "aiff") continue;
    const fs::path path = test_data() / "formats/sonnet" / ("p001." + ending);
    const std::string bytes = read_file(path).value();
    const auto from_file = all_of(decode_recording(path).value());
    const Pipe pipe(folder / ending, bytes);
    EXPECT_EQ(all_of(decode_recording(pipe.path()).value()), from_file) << path;
    MemoryBytes memory(std::as_bytes(std::span(bytes)));
    PcmInMemory sink;
    ASSERT_TRUE(decode_audio(memory, "", sink)) << path;
    EXPECT_EQ(sink.pcm(), from_file) << path;
  }
}

TEST(Decode, ADashReadsStandardInput) {
  const TempFolder folder;
  const auto audio = noise(5000);
  const OwnedFd input(::open(write_wav(folder / "in.wav", audio).c_str(), O_RDONLY));
  const OwnedFd kept(::dup(STDIN_FILENO));
  ::dup2(input.get(), STDIN_FILENO);
  const auto recording = decode_recording("-");
  ::dup2(kept.get(), STDIN_FILENO);
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(all_of(*recording), audio);
}

TEST(Recording, ReadsSilenceBeforeItsStartAndPastItsEnd) {
  const std::vector<std::int16_t> pcm{1, 2, 3};
  const Recording recording = recording_of(pcm);
  std::vector<std::int16_t> out(7, 9);
  ASSERT_TRUE(recording.read(-2, out));
  EXPECT_THAT(out, testing::ElementsAre(0, 0, 1, 2, 3, 0, 0));
  ASSERT_TRUE(recording.read(2, std::span(out).first(2)));
  EXPECT_THAT(std::span(out).first(2), testing::ElementsAre(3, 0));
  ASSERT_TRUE(recording.read(-100, std::span(out).first(2)));
  EXPECT_THAT(std::span(out).first(2), testing::ElementsAre(0, 0));
  ASSERT_TRUE(recording.read(100, out));
  EXPECT_THAT(out, testing::Each(0));
}
