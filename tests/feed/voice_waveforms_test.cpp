#include "feed/voice/voice_waveforms.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audio/samples.h"
#include "base/files.h"
#include "feed/voice/voice_builder.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// Noise of three lengths with texts, in LJSpeech's layout.
void write_data(const fs::path& folder) {
  std::string list;
  for (const int number : {1, 2, 3}) {
    std::vector<std::int16_t> pcm(static_cast<std::size_t>(16000 + 777 * number));
    for (std::size_t i = 0; i < pcm.size(); ++i)
      pcm[i] = static_cast<std::int16_t>((static_cast<int>(i) * 7919 * number) % 9000);
    const auto id = std::to_string(number);
    fs::create_directories(folder / "wavs");
    write_wav(folder / "wavs" / (id + ".wav"), pcm, 16000);
    list += id + "|text number " + std::string(static_cast<std::size_t>(number), 'a') + "\n";
  }
  ASSERT_TRUE(write_file_atomically(folder / "metadata.csv", list));
}

Result<VoiceBuildReport> build(const fs::path& data, const fs::path& out, bool waveforms, std::uint64_t seed = 1234) {
  return build_voice_set(
      {.data = data, .out = out, .kind = SymbolKind::characters, .seed = seed, .waveforms = waveforms},
      [](std::int64_t, std::int64_t) { return true; });
}

}  // namespace

TEST(VoiceWaveforms, SpectrogramsOfASetAreOfItsWaveforms) {
  const TempFolder folder;
  write_data(folder / "data");
  const auto report = build(folder / "data", folder / "set", true);
  ASSERT_TRUE(report) << report.error().text();
  const auto set = VoiceSet::open(folder / "set").value();
  const auto waveforms = VoiceWaveforms::open(folder / "set", *set);
  ASSERT_TRUE(waveforms) << waveforms.error().text();
  EXPECT_EQ(report->waveforms.value, static_cast<std::int64_t>(fs::file_size(folder / "set" / kVoiceWaveformFile)) -
                                         3 * static_cast<std::int64_t>(sizeof(WaveformEntry)));
  const VoiceMel mel(set->format().mel);
  for (std::int64_t i = 0; i < set->size(); ++i) {
    const auto audio = waveforms->clip(i);
    ASSERT_TRUE(audio) << audio.error().text();
    EXPECT_EQ(std::ssize(*audio), waveforms->samples(i));
    EXPECT_TRUE(std::ranges::equal(mel.compute(*audio), set->clip(i).mel)) << i;
  }
}

TEST(VoiceWaveforms, SetIsTheSameWithAndWithoutThem) {
  const TempFolder folder;
  write_data(folder / "data");
  ASSERT_TRUE(build(folder / "data", folder / "with", true));
  ASSERT_TRUE(build(folder / "data", folder / "without", false));
  EXPECT_TRUE(read_file(folder / "with" / kVoiceSetFile).value() ==
              read_file(folder / "without" / kVoiceSetFile).value());
  EXPECT_FALSE(is_there(folder / "without" / kVoiceWaveformFile));
  const auto none = VoiceWaveforms::open(folder / "without", *VoiceSet::open(folder / "without").value());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, Fault::missing);
}

TEST(VoiceWaveforms, ThoseOfAnotherSetAreRefused) {
  const TempFolder folder;
  write_data(folder / "data");
  ASSERT_TRUE(build(folder / "data", folder / "set", true));
  ASSERT_TRUE(build(folder / "data", folder / "set", false, 77));  // other noise
  const auto other = VoiceWaveforms::open(folder / "set", *VoiceSet::open(folder / "set").value());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().fault, Fault::usage);
}

TEST(VoiceWaveforms, DamageIsFoundWhereItIs) {
  const TempFolder folder;
  write_data(folder / "data");
  ASSERT_TRUE(build(folder / "data", folder / "set", true));
  const auto set = VoiceSet::open(folder / "set").value();
  const auto path = folder / "set" / kVoiceWaveformFile;
  const auto whole = read_file(path).value();
  const auto with_change = [&](std::size_t at) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return VoiceWaveforms::open(folder / "set", *set);
  };
  const auto in_first = with_change(200);
  ASSERT_TRUE(in_first);
  EXPECT_EQ(in_first->clip(0).error().fault, Fault::corrupt);
  EXPECT_TRUE(in_first->clip(1));
  EXPECT_EQ(with_change(20).error().fault, Fault::corrupt) << "the head";
  EXPECT_EQ(with_change(whole.size() - 5).error().fault, Fault::corrupt) << "the index";
}
