#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "support/real_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {

/// A recording of real English and the text that was read.
struct SpokenClip {
  std::string id;
  std::string text;
  std::filesystem::path audio;
};

/// The clips of the shared LJSpeech set in the order of their names. Many of LJ001-* and LJ002-* hold a part of their
/// text only.
inline std::vector<SpokenClip> lj_clips() {
  const std::filesystem::path folder = test_data() / "speech/lj";
  std::istringstream lines(read_file(folder / "metadata.csv").value());
  std::vector<SpokenClip> clips;
  for (std::string line; std::getline(lines, line);) {
    const std::string id = line.substr(0, line.find('|'));
    clips.push_back({id, line.substr(line.rfind('|') + 1), folder / "wavs" / (id + ".flac")});
  }
  return clips;
}

/// The clips LJ003-* in the order of their names: the only ones there whose texts are true.
inline std::vector<SpokenClip> lj003_clips() {
  auto clips = lj_clips();
  std::erase_if(clips, [](const SpokenClip& clip) { return !clip.id.starts_with("LJ003-"); });
  EXPECT_EQ(clips.size(), 74U);
  return clips;
}

/// Every fifth clip, the first one included; with `others` those between them.
inline std::vector<SpokenClip> every_fifth(const std::vector<SpokenClip>& clips, bool others = false) {
  std::vector<SpokenClip> chosen;
  for (std::size_t i = 0; i < clips.size(); ++i)
    if ((i % 5 == 0) != others) chosen.push_back(clips[i]);
  return chosen;
}

/// The JSON transcripts by the clips' ids, with the program's defaults but for `flags`.
inline std::map<std::string, nlohmann::json> transcripts_of(const std::vector<SpokenClip>& clips,
                                                            const std::filesystem::path& model,
                                                            const std::vector<std::string>& flags) {
  const TempFolder out;
  std::vector<std::string> words{tutti_program(), "transcribe",      "--model", model.string(), "--language", "en",
                                 "--quiet",       "--output-format", "json",    "--output-dir"};
  words.push_back(out.path().string());
  words.insert(words.end(), flags.begin(), flags.end());
  for (const SpokenClip& clip : clips) words.push_back(clip.audio.string());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  std::map<std::string, nlohmann::json> transcripts;
  for (const SpokenClip& clip : clips)
    transcripts[clip.id] = nlohmann::json::parse(read_file(out / (clip.id + ".json")).value());
  return transcripts;
}

/// In percent, over all clips together, by `tutti wer --normalizer english`.
inline double word_errors(const std::vector<SpokenClip>& clips,
                          const std::map<std::string, nlohmann::json>& transcripts) {
  const TempFolder folder;
  std::string references, texts;
  for (const SpokenClip& clip : clips) {
    references += clip.text + "\n";
    texts += transcripts.at(clip.id)["text"].get<std::string>() + "\n";
  }
  EXPECT_TRUE(write_file_atomically(folder / "references", references));
  EXPECT_TRUE(write_file_atomically(folder / "texts", texts));
  const ProgramEnd end = run_program({tutti_program(), "wer", "--by-line", "--normalizer", "english", "--json", "--ref",
                                      folder / "references", "--hyp", folder / "texts"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return 100 * nlohmann::json::parse(end.out)["wer"].get<double>();
}

}  // namespace tutti
