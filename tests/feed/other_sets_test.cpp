// Sets of other tools: Lhotse's cuts, Kaldi's folders, WebDataset's shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <string>

#include "base/files.h"
#include "feed/corpus.h"
#include "feed/source/dataset.h"
#include "feed/source/layouts.h"
#include "support/environment.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A header and the content of a file, as tar has them.
std::string tar_file(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  header.replace(124, 11, size, 11);
  header[156] = type;
  header.replace(257, 5, "ustar");
  header.replace(263, 2, "00");
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  header.replace(148, 7, std::string(digits, 6) + '\0');
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

class OtherSets : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    (void)write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  std::unique_ptr<Dataset> open(const std::filesystem::path& data, const std::string& split = "") {
    auto set = open_dataset(data, split, {});
    if (!set) throw std::runtime_error(set.error().text());
    return std::move(*set);
  }
  std::string wav(std::uint64_t number, std::int64_t samples) {
    const auto path = folder_ / "one.wav";
    write_wav(path, audio_of(number, samples));
    return read_file(path).value();
  }
  /// A shard with samples FIRST to LAST - 1 of a second each.
  std::string shard(int first, int last) {
    std::string tar;
    for (int i = first; i < last; ++i) {
      const std::string key = "a/s" + std::to_string(i);
      tar += tar_file(key + ".wav", wav(static_cast<std::uint64_t>(i), 16000));
      tar += i % 2 == 0 ? tar_file(key + ".txt", "text " + std::to_string(i) + "\n")
                        : tar_file(key + ".json", R"({"text":"text )" + std::to_string(i) + R"(","speaker":"p"})");
    }
    return tar + std::string(1024, '\0');
  }
  TempFolder folder_;
};

std::string cut(const std::string& id, double start, double duration, const std::string& rest) {
  return R"({"id":")" + id + R"(","type":"MonoCut","channel":0,"start":)" + std::to_string(start) + R"(,"duration":)" +
         std::to_string(duration) + rest + "}\n";
}

std::string recording(const std::string& file, double seconds) {
  return R"(,"recording":{"id":"r","sources":[{"type":"file","channels":[0],"source":")" + file +
         R"("}],"sampling_rate":16000,"duration":)" + std::to_string(seconds) + "}";
}

const std::string kSpoken = R"(,"supervisions":[{"start":1.0,"duration":1.0,"text":"behind","speaker":"ann"},)"
                            R"({"start":0.0,"duration":1.0,"text":" before "}])";

TEST_F(OtherSets, LhotseCutsAreStretchesWithTheirTexts) {
  write_wav(folder_ / "a.wav", audio_of(0, 48000));
  const auto path = write("cuts.jsonl", cut("whole", 0, 3, recording("a.wav", 3) + kSpoken) +
                                            cut("part", 0.5, 2, recording("a.wav", 3) + kSpoken) +
                                            cut("mute", 0, 3, R"(,"supervisions":[])"));
  const auto set = open(path);
  ASSERT_EQ(set->size(), 3);
  const auto whole = set->at(0), part = set->at(1);
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->text, "before behind");
  EXPECT_EQ(whole->audio, folder_ / "a.wav");
  EXPECT_EQ(whole->speaker, "ann");
  EXPECT_FALSE(whole->start) << "a whole recording may be cut where its supervisions are";
  EXPECT_EQ(whole->words.size(), 2);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->start, 0.5);
  EXPECT_EQ(part->end, 2.5);
  EXPECT_THAT(set->at(2).error().text(), HasSubstr("has no recording"));
}

TEST_F(OtherSets, LhotseCutsMayBeCompressed) {
  const std::string lines = cut("a", 0, 3, recording("a.wav", 3) + kSpoken);
  const std::string path = (folder_ / "cuts.jsonl.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, lines.data(), static_cast<unsigned>(lines.size()));
  gzclose(file);
  EXPECT_EQ(open(path)->at(0)->text, "before behind");
  auto bytes = read_file(path).value();
  const auto half = write("half.jsonl.gz", bytes.substr(0, bytes.size() - 9));
  EXPECT_THAT(open_dataset(half, "", {}).error().text(), HasSubstr("cut off"));
}

TEST_F(OtherSets, LhotseCutsThatAreNoStretchAreNamed) {
  const std::string stereo =
      R"(,"supervisions":[],"recording":{"sources":[{"type":"file","channels":[0,1],"source":"a.wav"}],"duration":3})";
  const std::string late = R"(,"supervisions":[{"start":2.5,"duration":1.0,"text":"late"}])";
  const auto set =
      open(write("cuts.jsonl", R"({"id":"m","type":"MixedCut","tracks":[],"duration":3})"
                               "\n" +
                                   cut("two", 0, 3, stereo) + cut("late", 0, 3, recording("a.wav", 3) + late)));
  EXPECT_THAT(set->at(0).error().text(), HasSubstr("found a MixedCut"));
  EXPECT_THAT(set->at(1).error().text(), HasSubstr("one channel"));
  EXPECT_THAT(set->at(2).error().text(), HasSubstr("beyond its cut: 'late'"));
}

TEST_F(OtherSets, KaldiSegmentsAreStretches) {
  write("train/wav.scp", "r1 a.wav\nr2 flac -c -d -s b.flac |\nr3 touch c |\n");
  write("train/text", "u1 one text\nu2 other\nu3 third\nu4 fourth\n");
  write("train/segments", "u1 r1 0.5 1.5\nu2 r2 0 2\nu3 r3 0 1\n");
  write("train/utt2spk", "u1 ann\n");
  write("a.wav", "x");
  const auto set = open(folder_.path(), "train");
  ASSERT_EQ(set->size(), 4);
  const auto first = set->at(0);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->id, "u1");
  EXPECT_EQ(first->text, "one text");
  EXPECT_EQ(first->start, 0.5);
  EXPECT_EQ(first->end, 1.5);
  EXPECT_EQ(first->speaker, "ann");
  EXPECT_TRUE(std::filesystem::equivalent(first->audio, folder_ / "a.wav")) << "paths begin where a recipe ran";
  EXPECT_EQ(set->at(1)->named, "b.flac");
  EXPECT_THAT(set->at(2).error().text(), HasSubstr("no command of a list is run"));
  EXPECT_FALSE(is_there("c"));
  EXPECT_THAT(set->at(3).error().text(), HasSubstr("segments has no line"));
}

TEST_F(OtherSets, UnsortedKaldiFilesAreSearchedAllTheSame) {
  std::string recordings, texts;
  for (int i = 40; i > 0; --i) {
    recordings += "u" + std::to_string(i) + " " + std::to_string(i) + ".wav\n";
    texts += "u" + std::to_string(41 - i) + " text " + std::to_string(41 - i) + "\n";
  }
  write("wav.scp", recordings);
  write("text", texts);
  const auto set = open(folder_.path());
  for (const std::int64_t i : {0, 8, 39}) EXPECT_EQ(set->at(i)->named, std::to_string(i + 1) + ".wav");
  write("wav.scp", recordings + "u7 again.wav\n");
  EXPECT_THAT(open_dataset(folder_.path(), "", {}).error().text(), HasSubstr("has 'u7' twice"));
}

TEST(DecodedFile, OnlyCommandsThatDecodeNameAFile) {
  const auto named = [](const char* command) {
    const auto file = file_of_command(command);
    return file ? *file : std::string("none");
  };
  EXPECT_EQ(named("flac -c -d -s /a/b.flac |"), "/a/b.flac");
  EXPECT_EQ(named("flac -cds '/a b.flac' |"), "/a b.flac");
  EXPECT_EQ(named("/usr/bin/sph2pipe -f wav -p a.sph |"), "a.sph");
  EXPECT_EQ(named("sox a.wav -t wav -r 16k -"), "a.wav");
  EXPECT_EQ(named("ffmpeg -v error -i a.mp3 -f wav -ar 16000 -ac 1 -"), "a.mp3");
  EXPECT_EQ(named("cat a\\ b.wav|"), "a b.wav");
  for (const char* other :
       {"sph2pipe -f wav -c 2 a.sph |", "sox a.wav -t wav - speed 1.1 |", "sox a.wav -t wav -r 8k - |",
        "ffmpeg -ss 3 -i a.mp3 -f wav - |", "cat a.wav b.wav |", "cat a.wav | sox - -t wav - |", "cat $(rm -r x) |",
        "cat \"`id`\" |", "rm a.wav |", "flac -d 'a |", "|", ""})
    EXPECT_EQ(named(other), "none") << other;
}

TEST(Braces, ExpandAsAShellDoes) {
  EXPECT_THAT(expand_braces("s-{08..10}.tar"), ElementsAre("s-08.tar", "s-09.tar", "s-10.tar"));
  EXPECT_THAT(expand_braces("{a,b}{0..1}"), ElementsAre("a0", "a1", "b0", "b1"));
  EXPECT_THAT(expand_braces("a{b}{3..1}"), ElementsAre("a{b}{3..1}"));
  EXPECT_TRUE(expand_braces("{0..999999}{0..9}").empty());
}

TEST_F(OtherSets, ShardsYieldTheirSamplesInAnyOrder) {
  write("set-00.tar", shard(0, 3));
  write("set-01.tar", shard(3, 5) + "behind the end");
  for (const auto& data : {folder_.path(), folder_ / "set-{00..01}.tar"}) {
    const auto set = open(data);
    ASSERT_EQ(set->size(), 5);
    EXPECT_EQ(set->at(4)->id, "set-01/a/s4");
    EXPECT_EQ(set->at(4)->text, "text 4");
    EXPECT_EQ(set->at(3)->speaker, "p");
  }
  const auto all = all_batches(options_for(folder_.path()));
  EXPECT_THAT(ids_of(all),
              testing::UnorderedElementsAre("set-00/a/s0", "set-00/a/s1", "set-00/a/s2", "set-01/a/s3", "set-01/a/s4"));
}

TEST_F(OtherSets, ShardsHoldTheFeaturesOfFilesAndResumeExactly) {
  write("set-0.tar", shard(0, 9));
  std::string lines;
  for (int i = 0; i < 9; ++i) {
    const std::string number = std::to_string(i);
    write("files/s" + number + ".wav", wav(static_cast<std::uint64_t>(i), 16000));
    lines += R"({"id":"set-0/a/s)" + number + R"(","audio":"s)" + number + R"(.wav","text":"text )" + number + "\"}\n";
  }
  const auto files = digests_of(all_batches(options_for(write("files/set.jsonl", lines))));
  FeedOptions options = options_for(folder_ / "set-0.tar");
  const auto batches = all_batches(options);
  EXPECT_EQ(digests_of(batches), files);
  options.resume = batches[0].position;
  options.threads = FeedThreads::of(4);
  const auto rest = digests_of(all_batches(options));
  EXPECT_EQ(rest, std::vector<std::string>(files.begin() + 1, files.end()));
}

TEST_F(OtherSets, CommandOfAShardRunsOnce) {
  const ScopedVariable cache("TUTTI_CACHE", (folder_ / "cache").c_str());
  write("set-0.tar", shard(0, 2));
  const std::string data =
      "pipe:echo >>" + (folder_ / "runs").string() + "; cat " + (folder_ / "set-{0..0}.tar").string();
  EXPECT_EQ(open(data)->at(1)->text, "text 1");
  EXPECT_EQ(ids_of(all_batches(options_for(data))).size(), 2);
  EXPECT_EQ(read_file(folder_ / "runs").value(), "\n");
  const auto failed = open_dataset("pipe:echo half; exit 3", "", {});
  EXPECT_THAT(failed.error().text(), HasSubstr("the command of a shard exited with status 3: echo half"));
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache" / "shards"))
    EXPECT_EQ(file.path().extension(), ".tar") << "no lock is left: " << file.path();
}

TEST_F(OtherSets, DamagedShardsAreNamed) {
  const std::string whole = shard(0, 2);
  EXPECT_THAT(open_dataset(write("a.tar", whole.substr(0, 40'000)), "", {}).error().text(), HasSubstr("is cut off"));
  EXPECT_THAT(open_dataset(write("b.tar", std::string(2048, 'x')), "", {}).error().text(), HasSubstr("expected a tar"));
  EXPECT_EQ(open_dataset(folder_ / "none-{0..3}.tar", "", {}).error().fault, Fault::missing);
  // A header of pax may give the next file any size.
  std::string pax = tar_file("pax", "14 size=-1024\n", 'x') + tar_file("a.wav", "");
  EXPECT_THAT(open_dataset(write("d.tar", pax), "", {}).error().text(), HasSubstr("expected a tar"));
  pax = tar_file("pax", "28 size=9223372036854775807\n", 'x') + tar_file("a.wav", "");
  EXPECT_THAT(open_dataset(write("e.tar", pax), "", {}).error().text(), HasSubstr("is cut off"));
  const auto lonely = open(write("c.tar", tar_file("k.txt", "text") + std::string(1024, '\0')));
  EXPECT_THAT(lonely->at(0).error().text(), HasSubstr("has no recording"));
}

}  // namespace
}  // namespace tutti
