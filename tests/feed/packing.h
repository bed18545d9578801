#pragma once

#include <gtest/gtest.h>

#include "feed/corpus.h"

namespace tutti {

namespace fs = std::filesystem;

inline FeedOptions with_cache(FeedOptions options, const fs::path& folder) {
  options.cache.folder = folder;
  return options;
}

/// The same feed, gathering from a set packed in that folder.
inline FeedOptions gathering(FeedOptions options, const fs::path& folder, Residence where = Residence::mapped) {
  options = with_cache(std::move(options), folder);
  options.resident.where = where;
  return options;
}

inline std::vector<fs::path> packs_in(const fs::path& folder, const std::string& ending = ".setpack") {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  return found;
}

/// All that is known of a sample beside its features, in a form that compares.
inline std::string facts_of(const BatchSample& sample) {
  std::string all = sample.id + "|" + sample.text + "|" + sample.audio.string() + "|" + std::to_string(sample.start) +
                    "|" + std::to_string(sample.frames) + (sample.begins ? "|begins" : "|goes on");
  for (const auto* texts : {&sample.times, &sample.words})
    for (const TimedText& text : *texts)
      all += "|" + std::to_string(text.start) + "-" + std::to_string(text.end) + ":" + text.text;
  for (const std::string& field : sample.fields) all += "|" + field;
  return all;
}

/// Both feeds hand out the same, bit by bit.
inline void expect_same(const std::vector<Batch>& found, const std::vector<Batch>& expected) {
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(digests_of(found), digests_of(expected));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t row = 0; row < found[i].samples.size(); ++row)
      EXPECT_EQ(facts_of(found[i].samples[row]), facts_of(expected[i].samples[row])) << "batch " << i;
}

}  // namespace tutti
