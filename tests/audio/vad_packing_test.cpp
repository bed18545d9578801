#include <gtest/gtest.h>

#include "audio/mel/log_mel.h"
#include "audio/vad/packing.h"
#include "golden_lines.h"
#include "samples.h"

using namespace tutti;

namespace {

/// Pieces of all lengths, some touching each other.
std::vector<SpeechPiece> some_pieces(std::uint32_t seed, std::int64_t end) {
  std::vector<SpeechPiece> pieces;
  const auto next = [&](std::uint32_t below) {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((seed >> 8) % below);
  };
  for (std::int64_t at = next(5000); at < end;) {
    const std::int64_t start = at + (next(3) == 0 ? 0 : next(4000));
    at = start + 1 + next(9000);
    if (at <= end) pieces.push_back({.start = start, .end = at});
  }
  return pieces;
}

std::vector<std::int16_t> read(const SampleReader& reader, std::int64_t first, std::size_t count) {
  std::vector<std::int16_t> out(count, 77);
  EXPECT_TRUE(reader.read(first, out));
  return out;
}

}  // namespace

TEST(PackWindows, HoldAllPiecesInOrderAndAsManyAsFit) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto pieces = some_pieces(seed, 100'000);
    std::vector<SpeechPiece> seen;
    std::int64_t last = 0, first_of_next = 0;
    for (const auto& window : pack_windows(pieces, 20'000)) {
      ASSERT_FALSE(window.empty());
      first_of_next = window[0].end - window[0].start;
      ASSERT_TRUE(last == 0 || last + first_of_next > 20'000) << "would have fitted";
      last = samples_of(window);
      ASSERT_LE(last, 20'000);
      seen.insert(seen.end(), window.begin(), window.end());
    }
    ASSERT_EQ(seen, pieces);
  }
}

TEST(PackWindows, CutAPieceThatIsLongerThanAWindow) {
  const std::vector<SpeechPiece> pieces{{.start = 100, .end = 350}, {.start = 400, .end = 420}};
  const std::vector<PackedPieces> expected{{{.start = 100, .end = 200, .forced_cut = true}},
                                           {{.start = 200, .end = 300, .forced_cut = true}},
                                           {{.start = 300, .end = 350}, {.start = 400, .end = 420}}};
  EXPECT_EQ(pack_windows(pieces, 100), expected);
  EXPECT_TRUE(pack_windows({}, 100).empty());
}

TEST(SpeechMap, RestoresTimesAsFasterWhisperDoes) {
  const auto lines = golden_lines("vad_times.txt");
  ASSERT_GE(lines.size(), 50U);
  for (const auto& line : lines) {
    std::vector<SpeechPiece> pieces;
    std::size_t at = 1;
    for (; pieces.size() < static_cast<std::size_t>(line[0]); at += 2)
      pieces.push_back({.start = static_cast<std::int64_t>(line[at]), .end = static_cast<std::int64_t>(line[at + 1])});
    const SpeechMap map(pieces);
    for (; at < line.size(); at += 5) {
      const Seconds time(line[at] / 1000);
      const auto word = map.word(time, time + Seconds(0.3));
      EXPECT_DOUBLE_EQ(map.start(time).count(), line[at + 1] / 100);
      EXPECT_DOUBLE_EQ(map.end(time).count(), line[at + 2] / 100);
      EXPECT_DOUBLE_EQ(word.start.count(), line[at + 3] / 100);
      EXPECT_DOUBLE_EQ(word.end.count(), line[at + 4] / 100);
    }
  }
}

TEST(PackedRecording, ReadsAsIfThePiecesHadBeenCopiedTogether) {
  const auto pcm = noise(60'000);
  const Recording recording = recording_of(pcm);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const auto pieces = some_pieces(seed, 60'000);
    std::vector<std::int16_t> together(500);  // silence before and behind
    for (const auto& piece : pieces)
      together.insert(together.end(), pcm.begin() + piece.start, pcm.begin() + piece.end);
    together.resize(together.size() + 500);
    const PackedRecording packed(recording, pieces);
    ASSERT_EQ(packed.samples(), std::ssize(together) - 1000);
    EXPECT_EQ(read(packed, -500, together.size()), together);
    for (std::size_t first = 0; first + 700 < together.size(); first += 613) {
      const auto start = together.begin() + static_cast<std::ptrdiff_t>(first);
      ASSERT_EQ(read(packed, static_cast<std::int64_t>(first) - 500, 700), std::vector(start, start + 700));
    }
  }
}

TEST(PackedRecording, WithoutPiecesIsSilence) {
  const Recording recording = recording_of(noise(100));
  const PackedRecording packed(recording, {});
  EXPECT_EQ(packed.samples(), 0);
  EXPECT_EQ(read(packed, -3, 9), std::vector<std::int16_t>(9));
}

TEST(PackedRecording, GivesTheLogMelOfTheSameAudioInOneFile) {
  const auto pcm = noise(90'000);
  const Recording recording = recording_of(pcm);
  const std::vector<SpeechPiece> pieces{{.start = 1000, .end = 21'234}, {.start = 30'001, .end = 80'000}};
  std::vector<std::int16_t> together;
  for (const auto& piece : pieces) together.insert(together.end(), pcm.begin() + piece.start, pcm.begin() + piece.end);
  const Recording copied = recording_of(together);
  const PackedRecording packed(recording, pieces);
  const LogMel log_mel(80);
  EXPECT_EQ(LogMel::content_frames(packed), LogMel::content_frames(copied));
  EXPECT_EQ(log_mel.maximum(packed).value(), log_mel.maximum(copied).value());
  EXPECT_EQ(log_mel.window(packed, 0, 450).value(), log_mel.window(copied, 0, 450).value());
}
