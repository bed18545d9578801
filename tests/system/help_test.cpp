// The help of every command: what it promises must be so.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/run_program.h"

using namespace tutti;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Those that `tutti --help` lists, each on an indented line.
std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& line : lines_of(run_program({tutti_program(), "--help"}).out))
    if (line.starts_with("    ")) names.push_back(words_of(line).at(0));
  return names;
}

/// The words of each example behind "tutti", without the program that it is piped to.
std::vector<std::vector<std::string>> examples_in(const std::string& help) {
  std::vector<std::vector<std::string>> examples;
  const auto at = help.find("\nExamples\n");
  if (at == std::string::npos) return examples;
  for (const auto& line : lines_of(help.substr(at)))
    if (auto words = words_of(line); line.starts_with("    tutti ")) {
      words.erase(words.begin());
      words.erase(std::ranges::find(words, "|"), words.end());
      examples.push_back(std::move(words));
    }
  return examples;
}

}  // namespace

TEST(Help, EveryCommandShowsExamplesWhoseFlagsItUnderstands) {
  const auto names = command_names();
  EXPECT_GE(names.size(), 18U);
  for (const auto& name : names) {
    const ProgramEnd help = run_program({tutti_program(), name, "--help"});
    EXPECT_EQ(help.exit_code, 0) << name << ": " << help.err;
    const auto examples = examples_in(help.out);
    EXPECT_FALSE(examples.empty()) << name << " has none:\n" << help.out;
    for (auto words : examples) {
      EXPECT_EQ(words.at(0), name);
      words.insert(words.begin(), tutti_program());
      // Reads the flags, and does nothing. What is behind "--" is another command's.
      words.insert(std::ranges::find(words, "--"), "--show-config");
      const ProgramEnd end = run_program(words);
      EXPECT_EQ(end.exit_code, 0) << name << ": " << end.err;
    }
  }
}

TEST(Help, CommandHelpWorksInEitherOrder) {
  EXPECT_EQ(run_program({tutti_program(), "help", "wer"}).out, run_program({tutti_program(), "wer", "--help"}).out);
  EXPECT_EQ(run_program({tutti_program(), "help"}).out, run_program({tutti_program(), "--help"}).out);
  EXPECT_EQ(run_program({tutti_program(), "help", "wre"}).exit_code, 2);
}

TEST(Help, IsGivenEvenWhereTheSettingsFileIsBroken) {
  const ProgramEnd end = run_program({tutti_program(), "transcribe", "--help"}, {"TUTTI_CONFIG=/nonexistent.toml"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("--output-dir"), std::string::npos);
  EXPECT_EQ(run_program({tutti_program(), "transcribe", "a.wav"}, {"TUTTI_CONFIG=/nonexistent.toml"}).exit_code, 2);
}

TEST(Help, TrainingHelpIsShownEvenWithABadRecipe) {
  const ProgramEnd end = run_program({tutti_program(), "train", "whisper", "--config", "/nonexistent.toml",
                                      "--resume_from_checkpoint", "x", "--help"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("--learning-rate"), std::string::npos) << end.out;
}
