// How far doubts can be trusted: faults of every kind planted into the texts of real recordings.

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "transcript/planted_faults.h"

using namespace tutti;

namespace {

constexpr double kListed = 0.5;  // what the review list shows
constexpr DoubtKind kKinds[] = {DoubtKind::loop, DoubtKind::invented, DoubtKind::improbable, DoubtKind::language,
                                DoubtKind::gap,  DoubtKind::fast,     DoubtKind::fallback};

/// What became of the findings of one kind and of the faults of one kind.
struct Score {
  int findings = 0;
  int at_a_fault = 0;  // of any kind: worth the listening
  int planted = 0;
  int found = 0;  // by a finding of its kind
  int found_by_any = 0;
};
using Scores = std::map<DoubtKind, Score>;

bool meet(const Doubt& doubt, const PlantedRecording::Fault& fault) {
  return doubt.start < fault.end + 0.5 && fault.start - 0.5 < doubt.end;
}

void score(const PlantedRecording& recording, Scores& scores) {
  std::vector<Doubt> listed;
  for (const Doubt& doubt : find_doubts(recording.transcript, recording.speech))
    if (doubt.severity >= kListed) listed.push_back(doubt);
  for (const Doubt& doubt : listed) {
    Score& mine = scores[doubt.kind];
    ++mine.findings;
    const bool right = std::any_of(recording.faults.begin(), recording.faults.end(),
                                   [&](const auto& fault) { return meet(doubt, fault); });
    mine.at_a_fault += right;
    if (!right)
      std::printf("    false: %s %.1f-%.1f %s | %s\n", std::string(name_of(doubt.kind)).c_str(), doubt.start, doubt.end,
                  doubt.reason.c_str(), doubt.excerpt.substr(0, 70).c_str());
  }
  for (const auto& fault : recording.faults) {
    if (fault.own) continue;
    Score& mine = scores[fault.kind];
    ++mine.planted;
    const auto by = [&](bool any) {
      return std::any_of(listed.begin(), listed.end(),
                         [&](const Doubt& d) { return (any || d.kind == fault.kind) && meet(d, fault); });
    };
    mine.found += by(false);
    mine.found_by_any += by(true);
  }
}

void print(const char* title, const Scores& scores) {
  std::printf("%s\n    %-11s %8s %10s %8s %7s %7s\n", title, "kind", "findings", "at a fault", "planted", "found",
              "by any");
  for (const auto& [kind, s] : scores)
    std::printf("    %-11s %8d %10d %8d %7d %7d\n", std::string(name_of(kind)).c_str(), s.findings, s.at_a_fault,
                s.planted, s.found, s.found_by_any);
}

/// Every recording many times over, each with one to four faults and as many things that only look like one.
Scores planted_scores(const std::vector<PlantedRecording>& clean, const std::vector<PlantedRecording>& texts,
                      int rounds) {
  Scores scores;
  Dice dice(20261121);
  for (int round = 0; round < rounds; ++round)
    for (PlantedRecording recording : clean) {
      for (int fault = dice.between(1, 4); fault > 0; --fault)
        plant(recording, kKinds[dice.between(0, 6)], texts, dice);
      for (int decoy = dice.between(1, 4); decoy > 0; --decoy) plant_decoy(recording, dice);
      score(recording, scores);
    }
  return scores;
}

/// Three or four words in another Latin language do not always contain a word that identifies the language.
double least_recall(DoubtKind kind) {
  return kind == DoubtKind::language ? 0.75 : 0.95;
}

double precision_of(const Scores& scores) {
  int findings = 0, right = 0;
  for (const auto& [kind, s] : scores) {
    findings += s.findings;
    right += s.at_a_fault;
  }
  return findings == 0 ? 1 : static_cast<double>(right) / findings;
}

}  // namespace

TEST(DoubtPrecision, CleanRecordingsOfEightLanguagesRaiseNoDoubt) {
  const RealRecordings real;
  Scores scores;
  std::set<std::string> languages;
  for (const auto& recording : real.read()) {
    score(recording, scores);
    languages.insert(recording.transcript.language);
  }
  EXPECT_EQ(languages.size(), 8U);
  print("clean", scores);
  for (const auto& [kind, s] : scores) EXPECT_EQ(s.findings, 0) << name_of(kind);
}

TEST(DoubtPrecision, DecoysRaiseFewDoubts) {
  const RealRecordings real;
  Scores scores;
  Dice dice(7);
  for (int round = 0; round < 40; ++round)
    for (PlantedRecording recording : real.read()) {
      for (int decoy = dice.between(1, 4); decoy > 0; --decoy) plant_decoy(recording, dice);
      score(recording, scores);
    }
  print("decoys", scores);
  int findings = 0;
  for (const auto& [kind, s] : scores) findings += s.findings;
  EXPECT_LE(findings, 40 * static_cast<int>(real.read().size()) / 100) << "one in a hundred recordings";
}

TEST(DoubtPrecision, PlantedFaultsAreFoundAndLittleElse) {
  const RealRecordings real;
  const Scores scores = planted_scores(real.read(), real.read(), 40);
  print("planted into what people read", scores);
  std::printf("    precision %.3f\n", precision_of(scores));
  EXPECT_GE(precision_of(scores), 0.97);
  for (const DoubtKind kind : kKinds) {
    const Score& s = scores.at(kind);
    EXPECT_GE(s.at_a_fault, s.findings * 0.95) << name_of(kind);
    EXPECT_GE(s.found, s.planted * least_recall(kind)) << name_of(kind);
  }
}

TEST(DoubtPrecision, PlantedFaultsAreFoundInWhatWhisperWrote) {
  const RealRecordings real;
  Scores clean;
  for (const auto& recording : real.whisper()) score(recording, clean);
  print("Whisper's own", clean);
  const Scores scores = planted_scores(real.whisper(), real.read(), 40);
  print("planted into what Whisper wrote", scores);
  std::printf("    precision %.3f\n", precision_of(scores));
  EXPECT_EQ(precision_of(clean), 1) << "of what is listed, every third word is wrong";
  EXPECT_GE(precision_of(scores), 0.97);
  for (const DoubtKind kind : kKinds)
    EXPECT_GE(scores.at(kind).found, scores.at(kind).planted * least_recall(kind)) << name_of(kind);
}
