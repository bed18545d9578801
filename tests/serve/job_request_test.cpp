#include "serve/jobs/job_request.h"

#include <gtest/gtest.h>

#include "serve/jobs/job_json.h"

namespace tutti {
namespace {

const SpeechOptions kUsual{};

TEST(JobRequest, FieldsOfTheTranscriptAndOfTheJobAreRead) {
  const auto request = read_job_request({{"model", "whisper-1"},
                                         {"language", "en"},
                                         {"response_format", "srt"},
                                         {"class", "normal"},
                                         {"priority", "-7"},
                                         {"name", " A talk "}},
                                        kUsual);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->source, JobRequest::Source::upload);
  EXPECT_EQ(request->form.format, SpeechFormat::srt);
  EXPECT_EQ(request->form.options.long_form.language, "en");
  EXPECT_EQ(request->job_class, JobClass::normal);
  EXPECT_EQ(request->priority, -7);
  EXPECT_EQ(request->name, "A talk");
}

TEST(JobRequest, AddressIsAUrlOrAPathAndNotBoth) {
  const auto url = read_job_request({{"model", "m"}, {"url", "https://a.example/b.mp3"}}, kUsual);
  ASSERT_TRUE(url);
  EXPECT_EQ(url->source, JobRequest::Source::url);
  EXPECT_EQ(url->location, "https://a.example/b.mp3");
  EXPECT_EQ(read_job_request({{"model", "m"}, {"path", "/a"}}, kUsual)->source, JobRequest::Source::path);
  const auto both = read_job_request({{"model", "m"}, {"path", "/a"}, {"url", "http://b"}}, kUsual);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().param, "url");
}

TEST(JobRequest, ErrorNamesTheFieldThatIsWrong) {
  const auto param = [](FormFields fields) {
    fields.emplace_back("model", "m");
    const auto request = read_job_request(fields, kUsual);
    return request ? "none" : request.error().param;
  };
  EXPECT_EQ(param({{"class", "urgent"}}), "class");
  EXPECT_EQ(param({{"priority", "1001"}}), "priority");
  EXPECT_EQ(param({{"priority", "1.5"}}), "priority");
  EXPECT_EQ(param({{"task", "summarise"}}), "task");
  EXPECT_EQ(param({{"stream", "true"}}), "stream");
  EXPECT_EQ(param({{"include[]", "logprobs"}}), "include");
  EXPECT_EQ(param({{"language", "klingon"}}), "language");
  EXPECT_EQ(param({{"url", " "}, {"class", ""}}), "none") << "what is empty is absent";
  EXPECT_EQ(param({{"name", "\xff"}}), "name");
}

TEST(JobRequest, LongNameIsCutBetweenCharacters) {
  const auto name = [](int characters) {
    std::string given;
    for (int i = 0; i < characters; ++i) given += "\u00e9";
    return read_job_request({{"model", "m"}, {"name", given}}, kUsual)->name;
  };
  EXPECT_EQ(name(150).size(), 300U);
  EXPECT_EQ(name(201), name(200));
  EXPECT_EQ(name(201).size(), 400U);
}

TEST(JobRequest, PriorityIsAWholeNumberInItsRange) {
  EXPECT_EQ(priority_in("-1000"), -1000);
  EXPECT_EQ(priority_in("1000"), 1000);
  for (const char* text : {"", "1001", "-1001", "-2147483648", "2147483648", "1.5", "7 "})
    EXPECT_FALSE(priority_in(text)) << text;
}

TEST(JobRequest, TaskTranslateMakesATranslation) {
  EXPECT_TRUE(read_job_request({{"model", "m"}, {"task", "translate"}}, kUsual)->form.options.long_form.translate);
  EXPECT_FALSE(read_job_request({{"model", "m"}, {"task", "transcribe"}}, kUsual)->form.options.long_form.translate);
}

TEST(JobRequest, JsonObjectIsReadAsFields) {
  const auto fields = fields_of_json(
      R"({"model":"m","priority":3,"vad_filter":true,"timestamp_granularities":["word","segment"],"prompt":null})");
  ASSERT_TRUE(fields);
  EXPECT_EQ(*fields, (FormFields{{"model", "m"},
                                 {"priority", "3"},
                                 {"timestamp_granularities", "word"},
                                 {"timestamp_granularities", "segment"},
                                 {"vad_filter", "true"}}));
  EXPECT_FALSE(fields_of_json("[]"));
  EXPECT_FALSE(fields_of_json("{"));
  EXPECT_FALSE(fields_of_json(R"({"model":[["m"]]})"));
}

TEST(JobRequest, UrgencyAndNameAreNoPartOfWhatTheResultIs) {
  const FormFields plain{{"model", "m"}, {"language", "en"}};
  const FormFields urgent{{"model", "m"}, {"priority", "9"}, {"class", "normal"}, {"name", "n"}, {"language", "en"}};
  EXPECT_EQ(result_fields(plain), result_fields(urgent));
  EXPECT_NE(result_fields(plain), result_fields({{"model", "m"}, {"language", "de"}}));
}

TEST(JobJson, FieldsComeBackFromTheStore) {
  const FormFields fields{{"model", "m"}, {"prompt", "a \"b\"\n"}};
  Job job{.spec = {.batch = batch_of_client("0123"), .extra = to_extra(fields)}};
  EXPECT_EQ(fields_of(job), fields);
  job.spec.extra = R"({"fields":[["model","m"]],"body":"abc"})";
  EXPECT_EQ(fields_of(job), (FormFields{{"model", "m"}})) << "a job that an older server has accepted";
  for (const char* other : {"{}", "", R"({"fields":[["model"]]})", R"({"fields":[["model",1]]})"}) {
    job.spec.extra = other;
    EXPECT_FALSE(fields_of(job)) << other;
  }
  job = {.spec = {.batch = "/a/folder", .extra = to_extra(fields)}};
  EXPECT_FALSE(fields_of(job)) << "a job of a batch";
}

TEST(JobJson, JobThatIsNotItsTurnWaitsForItsStateOrItsTime) {
  const StoreTime now{std::chrono::milliseconds(1000)};
  EXPECT_EQ(why_not_yet({.state = JobState::held}, now), "held until it is resumed");
  EXPECT_EQ(why_not_yet({.state = JobState::running}, now), "");
  EXPECT_EQ(why_not_yet({.state = JobState::done}, now), "");
  const Job failed{.strikes = 2, .not_before = now + std::chrono::milliseconds(1)};
  EXPECT_EQ(why_not_yet(failed, now), "it has failed 2 times and is tried again later");
  EXPECT_EQ(why_not_yet(failed, failed.not_before), std::nullopt);
}

TEST(JobJson, DigestIsOfTheKeyOrElseOfTheBody) {
  EXPECT_EQ(job_digest("c", "k", "body"), job_digest("c", "k", "other"));
  EXPECT_NE(job_digest("c", "k", "body"), job_digest("d", "k", "body"));
  EXPECT_EQ(job_digest("c", "", "body"), job_digest("c", "", "body"));
  EXPECT_NE(job_digest("c", "", "body"), job_digest("c", "", "other"));
  EXPECT_NE(job_digest("c", "", "body"), job_digest("c", "body", "x")) << "a key that looks like a body";
}

}  // namespace
}  // namespace tutti
