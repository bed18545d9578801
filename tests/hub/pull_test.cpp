#include "hub/pull.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>

#include "base/files.h"
#include "hub/hub_server.h"
#include "hub/model_files.h"
#include "support/environment.h"
#include "support/no_locks.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// A hub with one model, and an empty cache to pull it into.
struct Pull : testing::Test {
  TempFolder root{};
  std::filesystem::path remote = root / "hub/openai/whisper-tiny.en";
  std::filesystem::path target = root / "models/openai--whisper-tiny.en";
  PullOptions options{};
  std::vector<double> waits{};

  void SetUp() override {
    write_model(remote, 50'000);
    options.into = root / "models";
    options.wait = [this](Seconds length) { waits.push_back(length.count()); };
  }
  Result<std::filesystem::path> pull_from(const HubServer& hub, const std::string& word = "tiny.en") {
    options.hub.endpoint = hub.endpoint();
    return pull(word, options);
  }
  void expect_whole() {
    for (const auto* name : {"config.json", "model.safetensors", "tokenizer.json"})
      EXPECT_EQ(read_file(target / name).value_or("absent"), read_file(remote / name).value()) << name;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options.into), {}), 1) << "nothing else stays behind";
  }
};

std::int64_t requests_for(const HubServer& hub, const std::string& part) {
  return std::ranges::count_if(hub.requests(), [&](const SeenRequest& r) { return r.path.find(part) != r.path.npos; });
}

}  // namespace

TEST_F(Pull, AModelArrivesWholeUnderItsName) {
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_TRUE(pulled) << pulled.error().text();
  EXPECT_EQ(*pulled, target);
  EXPECT_TRUE(inspect_model(target)->complete());
  expect_whole();
}

TEST_F(Pull, ProgressRisesToTheTotal) {
  const HubServer hub(root / "hub");
  std::vector<PullProgress> seen;
  options.progress = [&](const PullProgress& now) { seen.push_back(now); };
  ASSERT_TRUE(pull_from(hub));
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::ranges::is_sorted(seen, {}, &PullProgress::done));
  EXPECT_EQ(seen.back().done, seen.back().total);
  EXPECT_EQ(seen.front().total, seen.back().total) << "known before the first byte";
}

TEST_F(Pull, SecondPullSendsOneRequestForChanges) {
  const HubServer hub(root / "hub");
  ASSERT_TRUE(pull_from(hub));
  const auto before = hub.requests().size();
  ASSERT_TRUE(pull_from(hub));
  EXPECT_EQ(hub.requests().size(), before + 1);
}

TEST_F(Pull, ANewCommitReplacesTheModel) {
  const HubServer hub(root / "hub");
  ASSERT_TRUE(pull_from(hub));
  ASSERT_TRUE(write_file_atomically(remote / "tokenizer.json", R"({"model": {"newer": 1}})"));
  ASSERT_TRUE(pull_from(hub));
  expect_whole();
}

TEST_F(Pull, AFolderThatNoPullHasMadeIsKept) {
  const HubServer hub(root / "hub");
  ASSERT_TRUE(write_file_atomically(target / "model.safetensors", "the user's"));
  const auto refused = pull_from(hub);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("found a folder of another origin"), std::string::npos) << refused.error().text();
  EXPECT_EQ(read_file(target / "model.safetensors").value(), "the user's");
}

TEST_F(Pull, LostConnectionResumesAtTheBreak) {
  const HubServer hub(root / "hub", R"({"script": [{"file": "model.safetensors", "kind": "drop", "after": 70000}]})");
  const auto pulled = pull_from(hub);
  ASSERT_TRUE(pulled) << pulled.error().text();
  expect_whole();
  const auto seen = hub.requests();
  EXPECT_TRUE(
      std::ranges::any_of(seen, [](const auto& r) { return r.server == "Storage" && r.range == "bytes=70000-"; }));
}

TEST_F(Pull, AnInterruptedPullGoesOnInTheNextRun) {
  const HubServer hub(root / "hub",
                      R"({"script": [{"file": "model.safetensors", "kind": "drop", "after": 30000, "times": 1},
                                     {"file": "model.safetensors", "kind": "status", "status": 503, "times": 5}]})");
  const auto broken = pull_from(hub);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().hint.find("goes on from there"), std::string::npos) << broken.error().text();
  EXPECT_FALSE(std::filesystem::exists(target)) << "a model under its own name is always whole";
  const auto again = pull_from(hub);
  ASSERT_TRUE(again) << again.error().text();
  expect_whole();
  EXPECT_EQ(hub.requests().back().range, "") << "tokenizer.json comes last, and whole";
  EXPECT_GE(std::ranges::count(hub.requests(), "bytes=30000-", &SeenRequest::range), 1);
}

TEST_F(Pull, AServerWithoutRangesIsReadFromTheStart) {
  const HubServer hub(
      root / "hub", R"({"ranges": false, "script": [{"file": "model.safetensors", "kind": "drop", "after": 70000}]})");
  const auto pulled = pull_from(hub);
  ASSERT_TRUE(pulled) << pulled.error().text();
  expect_whole();
}

TEST_F(Pull, FullReplyAsLongAsThePartLosesNothing) {
  const HubServer hub(
      root / "hub", R"({"ranges": false, "script": [{"file": "model.safetensors", "kind": "drop", "after": 65536}]})");
  const auto pulled = pull_from(hub);
  ASSERT_TRUE(pulled) << pulled.error().text();
  expect_whole();
  EXPECT_GE(std::ranges::count(hub.requests(), "bytes=65536-", &SeenRequest::range), 1);
}

TEST_F(Pull, FullReplyWithoutSizeOrDigestLosesNothing) {
  const HubServer hub(root / "hub", R"({"ranges": false, "blobs": false,
                                       "script": [{"file": "tokenizer.json", "kind": "drop", "after": 5}]})");
  const auto pulled = pull_from(hub);
  ASSERT_TRUE(pulled) << pulled.error().text();
  expect_whole();
}

TEST_F(Pull, APartIsNotTakenForTheFileWhereTheListingHasNoSizes) {
  const HubServer hub(root / "hub", R"({"blobs": false,
                                       "script": [{"file": "tokenizer.json", "kind": "drop", "after": 5},
                                                  {"file": "tokenizer.json", "kind": "status", "status": 200}]})");
  EXPECT_FALSE(pull_from(hub)) << "the second answer is empty";
  EXPECT_FALSE(std::filesystem::exists(target));
  ASSERT_TRUE(pull_from(hub));
  expect_whole();
}

TEST_F(Pull, DigestsAreLearntFromTheDownloadWhereTheListingHasNone) {
  const HubServer hub(root / "hub", R"({"blobs": false, "script": [{"file": "model.safetensors", "kind": "wrong"}]})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::corrupt);
}

TEST_F(Pull, WrongBytesAreDeletedAndTheNextPullIsClean) {
  const HubServer hub(root / "hub", R"({"script": [{"file": "model.safetensors", "kind": "wrong"}]})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::corrupt);
  EXPECT_NE(pulled.error().what.find("model.safetensors"), std::string::npos);
  EXPECT_NE(pulled.error().what.find("deleted"), std::string::npos);
  ASSERT_TRUE(pull_from(hub));
  expect_whole();
}

TEST_F(Pull, BusyHubIsRetriedAfterItsRetryAfter) {
  const HubServer hub(
      root / "hub",
      R"({"script": [{"file": "model.safetensors", "kind": "status", "status": 429, "retry_after": 17}]})");
  ASSERT_TRUE(pull_from(hub));
  EXPECT_EQ(waits, std::vector<double>{17});
}

TEST_F(Pull, PersistentServerErrorEndsThePull) {
  const HubServer hub(root / "hub",
                      R"({"script": [{"file": "listing", "kind": "status", "status": 500, "times": 99}]})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().what.find("HTTP 500"), std::string::npos) << pulled.error().text();
  EXPECT_EQ(waits, (std::vector<double>{1, 2, 4, 8}));
}

TEST_F(Pull, TokenIsSentToTheHubOnly) {
  const HubServer hub(root / "hub", R"({"token": "secret"})");
  const auto refused = pull_from(hub);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
  EXPECT_NE(refused.error().hint.find("HF_TOKEN"), std::string::npos) << refused.error().text();

  options.hub.token = "secret";
  ASSERT_TRUE(pull_from(hub));
  const auto seen = hub.requests();
  for (const auto& request : seen)
    EXPECT_EQ(request.authorization.empty(), request.server == "Storage" || &request == &seen.front()) << request.path;
  EXPECT_GT(requests_for(hub, "resolve"), 0);
}

TEST_F(Pull, AGatedModelPointsToItsPage) {
  const HubServer hub(root / "hub", R"({"gated": "openai/whisper-tiny.en"})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().hint.find("Accept its conditions"), std::string::npos) << pulled.error().text();
  EXPECT_NE(pulled.error().hint.find("HF_TOKEN"), std::string::npos);
}

TEST_F(Pull, AModelTheHubDoesNotHaveIsAnsweredWithNearNames) {
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub, "openai/whisper-tinyy.en");
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::missing);
  EXPECT_NE(pulled.error().hint.find("openai/whisper-tiny.en"), std::string::npos) << pulled.error().text();
}

TEST_F(Pull, ARepositoryThatMovedIsFollowed) {
  const HubServer hub(root / "hub", R"({"redirect": {"openai/whisper-tiny": "openai/whisper-tiny.en"}})");
  const auto pulled = pull_from(hub, "tiny");
  ASSERT_TRUE(pulled) << pulled.error().text();
  EXPECT_EQ(pulled->filename(), "openai--whisper-tiny");
}

TEST_F(Pull, PickledWeightsAreRefusedBeforeAnythingIsDownloaded) {
  std::filesystem::rename(remote / "model.safetensors", remote / "pytorch_model.bin");
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::unsupported);
  EXPECT_EQ(hub.requests().size(), 1U);
}

TEST_F(Pull, RepositoryWithoutTokenizerIsRefusedBeforeDownload) {
  std::filesystem::rename(remote / "tokenizer.json", remote / "vocab.json");
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::unsupported);
  EXPECT_NE(pulled.error().what.find("tokenizer.json"), std::string::npos) << pulled.error().text();
  EXPECT_EQ(hub.requests().size(), 1U);
}

TEST_F(Pull, AnotherNetworkIsRefusedBeforeItsWeightsAreDownloaded) {
  ASSERT_TRUE(write_file_atomically(remote / "config.json", R"({"model_type": "gpt2"})"));
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::unsupported);
  EXPECT_NE(pulled.error().what.find("the config.json of another network"), std::string::npos) << pulled.error().text();
  EXPECT_EQ(requests_for(hub, "model.safetensors"), 0);
  EXPECT_TRUE(std::filesystem::is_empty(options.into)) << "nothing of it stays";
}

TEST_F(Pull, RepositoryWithoutConfigIsRefusedBeforeDownload) {
  std::filesystem::remove(remote / "config.json");
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::unsupported);
  EXPECT_NE(pulled.error().what.find("config.json"), std::string::npos) << pulled.error().text();
  EXPECT_EQ(hub.requests().size(), 1U);
}

TEST_F(Pull, WeightsOfAnotherKindBesideAVocabularyAreNoModel) {
  std::filesystem::remove(remote / "model.safetensors");
  ASSERT_TRUE(write_file_atomically(remote / "model.bin", std::string("\x06\0\0\0\x0F\0TransformerSpec\0", 22)));
  for (const char* name : {"config.json", "vocabulary.json"}) ASSERT_TRUE(write_file_atomically(remote / name, "{}"));
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::unsupported);
  EXPECT_NE(pulled.error().what.find("another network's weights"), std::string::npos) << pulled.error().text();
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(Pull, ABlankAroundTheHubsAddressIsNoPartOfIt) {
  const HubServer hub(root / "hub");
  const ScopedVariable endpoint("HF_ENDPOINT", (" " + hub.endpoint() + "\n").c_str());
  options.hub.endpoint = HubAccess::from_environment().endpoint;
  const auto pulled = pull("tiny.en", options);
  EXPECT_TRUE(pulled) << pulled.error().text();
}

TEST_F(Pull, InvalidEndpointErrorNamesTheUrl) {
  options.hub.endpoint = "http://a hub";
  const auto pulled = pull("tiny.en", options);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().what.find("URL"), std::string::npos) << pulled.error().text();
}

TEST_F(Pull, AnotherModelsDownloadStaysWhereOursOfAnOlderCommitGoes) {
  write_model(root / "hub/openai/whisper-tiny", 100);
  const auto theirs = options.into / "openai--whisper-tiny.en.0123456789ab.pulling";
  const auto older = options.into / "openai--whisper-tiny.0123456789ab.pulling";
  ASSERT_TRUE(write_file_atomically(theirs / "model.safetensors.part", "x"));
  ASSERT_TRUE(write_file_atomically(older / "model.safetensors.part", "x"));
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub, "tiny");
  ASSERT_TRUE(pulled) << pulled.error().text();
  EXPECT_TRUE(std::filesystem::exists(theirs / "model.safetensors.part"));
  EXPECT_FALSE(std::filesystem::exists(older));
}

TEST_F(Pull, CancellingStopsItAndKeepsThePart) {
  write_model(remote, 2'000'000);
  const HubServer hub(root / "hub");
  bool stop = false;
  options.progress = [&](const PullProgress& now) { stop = now.done > 1'000'000; };
  options.go_on = [&] { return !stop; };
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::cancelled);
  stop = false;
  options.progress = nullptr;
  ASSERT_TRUE(pull_from(hub));
  expect_whole();
  EXPECT_NE(hub.requests().at(hub.requests().size() - 2).range, "") << "the weights went on from the part";
}

TEST_F(Pull, AFileThatIsRefusedIsNotTriedAgain) {
  const HubServer hub(root / "hub",
                      R"({"script": [{"file": "config.json", "kind": "status", "status": 404, "times": 99}]})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::missing);
  EXPECT_NE(pulled.error().what.find("openai/whisper-tiny.en/config.json"), std::string::npos);
  EXPECT_TRUE(waits.empty());
}

TEST_F(Pull, TwoPullsOfOneModelDoNotMix) {
  const HubServer hub(root / "hub", R"({"script": [{"file": "model.safetensors", "kind": "wrong"}]})");
  ASSERT_FALSE(pull_from(hub));
  const auto staging = std::filesystem::directory_iterator(options.into)->path();
  {
    const OwnedFd other(::open(staging.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    const auto pulled = pull_from(hub);
    ASSERT_FALSE(pulled);
    EXPECT_NE(pulled.error().what.find("another pull"), std::string::npos) << pulled.error().text();
  }
  EXPECT_TRUE(pull_from(hub)) << "the lock ends with its owner";
}

TEST_F(Pull, AFolderThatCannotBeLockedIsNotTakenForAnotherPull) {
  const HubServer hub(root / "hub");
  {
    const NoLocks none;
    const auto pulled = pull_from(hub);
    ASSERT_FALSE(pulled);
    EXPECT_EQ(pulled.error().what.find("another pull"), std::string::npos) << pulled.error().text();
    EXPECT_NE(pulled.error().text().find("keeps no locks. Set TUTTI_CACHE"), std::string::npos)
        << pulled.error().text();
  }
  EXPECT_TRUE(pull_from(hub));
}

TEST_F(Pull, OfflineMeansNoRequest) {
  const HubServer hub(root / "hub");
  options.hub.offline = true;
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().what.find("HF_HUB_OFFLINE"), std::string::npos);
  EXPECT_TRUE(hub.requests().empty());
}

TEST_F(Pull, AHubThatIsNotThereIsNamed) {
  options.hub.endpoint = "http://127.0.0.1:9";
  const auto pulled = pull("tiny.en", options);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().what.find("127.0.0.1:9"), std::string::npos) << pulled.error().text();
  EXPECT_TRUE(waits.empty());
}

TEST_F(Pull, ModelTooLargeForTheDiskIsRefusedBeforeDownload) {
  const HubServer hub(root / "hub", R"({"claim": 1000000000000000})");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().fault, Fault::full);
  EXPECT_NE(pulled.error().hint.find("TUTTI_CACHE"), std::string::npos) << pulled.error().text();
  EXPECT_EQ(hub.requests().size(), 1U);
}

TEST_F(Pull, ACacheFolderThatCannotBeMadeIsNamed) {
  options.into = "/dev/null/models";
  const HubServer hub(root / "hub");
  const auto pulled = pull_from(hub);
  ASSERT_FALSE(pulled);
  EXPECT_NE(pulled.error().what.find("/dev/null/models"), std::string::npos) << pulled.error().text();
}

TEST(OriginOf, ASecretsAudienceIsSchemeHostAndPort) {
  EXPECT_EQ(origin_of("https://Hub.example/a?b"), "https://hub.example");
  EXPECT_EQ(origin_of("https://hub.example:443"), "https://hub.example");
  EXPECT_EQ(origin_of("http://hub.example:8080/x"), "http://hub.example:8080");
  EXPECT_EQ(origin_of("https://hub.example@evil.example/x"), "https://evil.example");
  EXPECT_EQ(origin_of("no url"), "");
}
