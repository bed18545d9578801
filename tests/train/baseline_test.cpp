#include "train/classifier/baseline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/files.h"
#include "base/random/counter_random.h"
#include "feed/feature_cache.h"
#include "support/temp_folder.h"
#include "train/checkpoint/folder.h"
#include "train/classifier/comparison.h"
#include "train/classifier/task.h"

using namespace tutti;

namespace {

/// The rows that scikit-learn 1.8 had for the figures below.
RegressionRows golden_rows() {
  RegressionRows rows{.width = 4};
  for (int i = 0; i < 24; ++i) {
    for (int d = 0; d < 4; ++d) rows.values.push_back(std::sin(1.3 * i + 2.1 * d) * (d + 1) + (i % 3) * 0.4 * (d - 1));
    rows.labels.push_back(i % 3);
  }
  return rows;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

/// A set of `files` clips of 8 bands in turn of labels A and B, four a group. `value`: of a clip's band and frame.
std::shared_ptr<const LabelledSet> set_of(const std::filesystem::path& path, std::int64_t files,
                                          const std::function<double(std::int64_t file, std::int64_t band)>& value,
                                          std::int64_t clips_of_recording = 1) {
  const auto geometry = clip_geometry(Hertz{8000}, Seconds(0.2), 8);
  const std::vector<std::string> labels{"A", "B"};
  std::vector<std::vector<std::uint16_t>> mel;
  std::vector<LabelledRow> rows;
  CounterRandom random({7});
  for (std::int64_t i = 0; i < files; ++i) {
    const auto recording = i / clips_of_recording;
    auto& clip = mel.emplace_back();
    for (std::int64_t band = 0; band < geometry.mel.n_mels; ++band)
      for (std::int64_t frame = 0; frame < geometry.frames(); ++frame)
        clip.push_back(to_half(static_cast<float>(value(recording, band) + random.normal())));
    const auto file = std::to_string(recording) + ".wav";
    const auto name = clips_of_recording > 1 ? clip_name(file, Seconds(static_cast<double>(i % 10))) : file;
    rows.push_back({.name = name,
                    .group = "G" + std::to_string(recording / 4),
                    .label = static_cast<std::int16_t>(recording % 2),
                    .checksum = row_checksum(name, clip),
                    .recording = file});
  }
  EXPECT_TRUE(make_folders(path.parent_path()));
  const auto written =
      write_labelled_part(path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = [&](std::size_t row) {
                                   return std::span<const std::uint16_t>(mel[row]);
                                 }});
  EXPECT_TRUE(written) << written.error().text();
  return LabelledSet::open(path).value();
}

/// B is louder than A in all bands; or rises where A falls.
double by_level(std::int64_t file, std::int64_t) {
  return file % 2 == 0 ? -40 : -30;
}
double by_shape(std::int64_t file, std::int64_t band) {
  const double level = -50 + 7.0 * static_cast<double>(file * file % 5);
  return level + (file % 2 == 0 ? 1 : -1) * static_cast<double>(band);
}
double by_nothing(std::int64_t file, std::int64_t band) {
  CounterRandom random({static_cast<std::uint64_t>(file), static_cast<std::uint64_t>(band)});
  return -40 + 5 * random.normal();
}

TaskScores scores_with(double rank, const char* text = "some") {
  return {.rank = rank, .metrics = {{"macro_f1", 1 - rank}}, .text = text, .json = "{}"};
}

}  // namespace

TEST(LogisticRegression, ProbabilitiesAreThoseOfScikitLearn) {
  const auto rows = golden_rows();
  const auto fitted = fitted_regression(rows, {.strength = 0.5, .label_weights = {1, 1, 1}});
  expect_near(fitted.log_probabilities(rows.row(0)), {-0.5252355817366209, -1.2079478091743463, -2.2093305395290823});
  expect_near(fitted.log_probabilities(rows.row(1)), {-1.0268920697259973, -0.9874201203987717, -1.311761417582183});
  const auto weighted = fitted_regression(rows, {.strength = 0.5, .label_weights = {0.5, 1, 1.5}});
  expect_near(weighted.log_probabilities(rows.row(0)), {-0.9598948654137087, -0.7928443721728816, -1.8047768145744052});
}

TEST(LogisticRegression, SameRowsGiveTheSameBits) {
  const RegressionOptions options{.strength = 10, .label_weights = {1, 1, 1}};
  EXPECT_EQ(fitted_regression(golden_rows(), options).weights, fitted_regression(golden_rows(), options).weights);
}

TEST(GroupFolds, NoGroupIsInTwoFolds) {
  const TempFolder folder;
  const auto set = set_of(folder / "SET.H5", 48, by_level);
  const auto folds = group_folds(*set, 4, 1);
  ASSERT_EQ(folds_in(folds), 4);
  std::map<std::string, std::set<std::int64_t>> of_group;
  for (std::int64_t file = 0; file < set->files(); ++file)
    of_group[set->group_of_file(file)].insert(folds[static_cast<std::size_t>(file)]);
  for (const auto& [group, used] : of_group) EXPECT_EQ(used.size(), 1U) << group;
  for (std::int64_t fold = 0; fold < 4; ++fold) EXPECT_EQ(files_of_fold(folds, fold).held.size(), 12U);
  EXPECT_EQ(folds_in(group_folds(*set, 100, 1)), 12) << "no more folds than a label has groups";
}

TEST(Baseline, LevelIsNeededWhereOnlyThatDiffers) {
  const TempFolder folder;
  const auto loud = trained_baseline(*set_of(folder / "LEVEL.H5", 48, by_level), {}, "");
  EXPECT_TRUE(loud.needs_level);
  EXPECT_GT(loud.held_out.accuracy, 0.95);
  const auto shape = trained_baseline(*set_of(folder / "SHAPE.H5", 48, by_shape), {}, "");
  EXPECT_FALSE(shape.needs_level);
  EXPECT_GT(shape.held_out.accuracy, 0.95);
  EXPECT_LT(trained_baseline(*set_of(folder / "NOTHING.H5", 160, by_nothing), {}, "").held_out.accuracy, 0.7);
}

TEST(Baseline, StoredOneAnswersAsTheRegression) {
  const TempFolder folder;
  const auto set = set_of(folder / "SET.H5", 24, by_shape);
  const auto baseline = trained_baseline(*set, {}, "");
  ASSERT_TRUE(keep_baseline(folder.path(), baseline.model, "float32"));
  const auto model = ClassifierModel::load(folder / "baseline", at::kCPU);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_TRUE(model->is_baseline);
  const auto answers = classify_set(*model, *set, 7, [] { return false; }).value();
  ASSERT_EQ(answers.size(), 24U);
  const auto rows = band_statistics(*set);
  const auto fitted = fitted_regression(rows, {baseline.strength, {1, 1}});
  for (std::int64_t i = 0; i < 24; ++i)
    EXPECT_NEAR(answers[static_cast<std::size_t>(i)].probabilities[0],
                std::exp(fitted.log_probabilities(rows.row(i))[0]), 1e-4);
}

TEST(Baseline, RecordingIsTheVoteOfItsClips) {
  const TempFolder folder;
  const auto set = set_of(folder / "SET.H5", 40, by_shape, /*clips_of_recording=*/5);
  ASSERT_EQ(set->recordings().size(), 8U);
  const auto baseline = trained_baseline(*set, {}, "");
  EXPECT_EQ(baseline.held_out.files, 8);
  const auto answers = classify_set(baseline.model, *set, 100, [] { return false; }).value();
  ASSERT_EQ(answers.size(), 8U);
  EXPECT_EQ(answers[3].first, 15);
  EXPECT_EQ(answers[3].clips, 5);
  EXPECT_EQ(set->recording_of_file(15), "3.wav");
  EXPECT_EQ(start_of_clip_named(set->name_of_file(16), "3.wav"), Seconds(6));
}

TEST(FileScores, VoteIsTheMeanOfLogProbabilities) {
  const std::vector<FileAnswer> clips{{{0.9F, 0.1F}, 1, {0.2F}}, {{0.2F, 0.8F}, 1, {0.4F}}};
  const auto vote = vote_of(clips);
  const double a = std::sqrt(0.9 * 0.2), b = std::sqrt(0.1 * 0.8);
  EXPECT_NEAR(vote.probabilities[0], a / (a + b), 1e-6);
  EXPECT_NEAR(vote.probabilities[1], b / (a + b), 1e-6);
  EXPECT_EQ(vote.longs, (std::vector<float>{0.2F, 0.4F}));
  EXPECT_EQ(vote.label, 1);
  EXPECT_EQ(vote_of(std::span(clips).first(1)).probabilities, clips[0].probabilities) << "exactly its own";
}

TEST(Mixture, AnswersByTheMeanOfBothLogarithms) {
  const TempFolder folder;
  const auto set = set_of(folder / "SET.H5", 24, by_shape);
  const auto baseline = trained_baseline(*set, {}, "").model;
  ClassifierModel network = baseline;
  network.is_baseline = false;
  network.shape = classifier_shape(set->geometry(), 2, 8, false);
  network.weights = new_classifier(network.shape, 3, at::kCPU);
  network.mean = at::full({8, 1}, -48.0);
  network.deviation = at::full({8, 1}, 9.0);
  ASSERT_TRUE(keep_baseline(folder.path(), network.mixed_with(baseline), "float32"));
  const auto mixed = ClassifierModel::load(folder / "baseline", at::kCPU);
  ASSERT_TRUE(mixed) << mixed.error().text();
  EXPECT_TRUE(mixed->is_mixed);
  const auto answers_by = [&](const ClassifierModel& model) {
    return classify_set(model, *set, 100, [] { return false; }).value();
  };
  const auto both = answers_by(*mixed), one = answers_by(network), other = answers_by(baseline);
  for (std::size_t i = 0; i < both.size(); ++i) {
    const double a = std::sqrt(one[i].probabilities[0] * other[i].probabilities[0]);
    const double b = std::sqrt(one[i].probabilities[1] * other[i].probabilities[1]);
    EXPECT_NEAR(both[i].probabilities[0], a / (a + b), 1e-4) << i;
  }
}

TEST(Comparison, MixtureShipsUnlessOneOfItsPartsIsBetter) {
  const auto shipped = [](double network, double baseline, double mixture, std::int64_t recordings) {
    return Comparison{.network = scores_with(network),
                      .baseline = scores_with(baseline),
                      .mixture = scores_with(mixture),
                      .recordings = recordings}
        .ships();
  };
  EXPECT_EQ(shipped(0.25, 0.25, 0.24, 60), Shipped::mixture);
  EXPECT_EQ(shipped(0.17, 0.25, 0.20, 60), Shipped::mixture) << "the network is the best of many on these";
  EXPECT_EQ(shipped(0.17, 0.25, 0.20, 6000), Shipped::network);
  EXPECT_EQ(shipped(0.9, 0.1, 0.09, 60), Shipped::baseline) << "the network learned nothing";
  EXPECT_EQ(shipped(0.2, 0.1, 0.15, 60), Shipped::baseline);
  const auto less_certain = TaskScores{.rank = 0.49, .metrics = {{"macro_f1", 0.5}}, .text = "some", .json = "{}"};
  EXPECT_EQ((Comparison{.network = less_certain, .baseline = scores_with(0.5), .mixture = less_certain, .recordings = 2}
                 .ships()),
            Shipped::baseline)
      << "a lower loss alone";
}

TEST(Comparison, BaselineShipsUnlessTheNetworkIsBetter) {
  EXPECT_FALSE((Comparison{.network = scores_with(0.2), .baseline = scores_with(0.3)}).ships_baseline());
  EXPECT_TRUE((Comparison{.network = scores_with(0.3), .baseline = scores_with(0.3)}).ships_baseline());
  EXPECT_TRUE((Comparison{.network = {}, .baseline = scores_with(0.9)}).ships_baseline()) << "there is no network";
  const auto among = [](std::int64_t recordings) {
    return Comparison{.network = scores_with(0.24), .baseline = scores_with(0.3), .recordings = recordings};
  };
  EXPECT_TRUE(among(7).ships_baseline()) << "less than one recording of seven";
  EXPECT_FALSE(among(700).ships_baseline());
}

TEST(Comparison, CountsTheHalfThatDidNotChooseTheThreshold) {
  const TempFolder work;
  const auto set = set_of(work / "set.h5", 80, by_shape);
  const auto never = [] { return false; };
  const auto all = scored_on(trained_baseline(*set, {}, "").model, *set, 4096, never).value();
  EXPECT_EQ(all.recordings, 80);
  const auto half = scored_on(trained_baseline(*set, {}, "A").model, *set, 4096, never).value();
  EXPECT_GT(half.recordings, 0);
  EXPECT_LT(half.recordings, 80);
  EXPECT_NE(half.scores.text.find(std::to_string(half.recordings) + " files"), std::string::npos);
}

TEST(Comparison, RisingLossIsReported) {
  const auto line = [](int step, double loss) {
    return "{\"step\":" + std::to_string(step) + ",\"evaluation\":{\"loss\":" + std::to_string(loss) + "}}\n";
  };
  const auto course = loss_course(line(10, 0.9) + "{\"step\":15,\"loss\":0.1}\n" + line(20, 0.6) + line(30, 5.8));
  EXPECT_TRUE(course.rises());
  EXPECT_EQ(course.least_step, 20);
  EXPECT_NE(rising_text(course).find("from 0.60 (step 20) to 5.80 (step 30)"), std::string::npos);
  EXPECT_FALSE(loss_course(line(10, 0.9) + line(20, 0.6) + line(30, 0.65)).rises());
  EXPECT_FALSE(loss_course("").rises());
}

TEST(Comparison, ErrorOfAShareFallsWithTheRecordings) {
  EXPECT_NEAR(standard_error(0.5, 100), 0.05, 1e-9);
  EXPECT_NEAR(standard_error(0.72, 552), 0.0191, 1e-4);
  EXPECT_EQ(standard_error(1, 400), standard_error(0.95, 400));
}

TEST(FrontEnd, ClearlyBetterSetReplacesTheUsualOne) {
  const TempFolder folder;
  const auto write = [&](const std::string& name, auto value) {
    for (const auto part : {SetPart::training, SetPart::validation}) set_of(set_file(folder / name, part), 80, value);
  };
  write("set", by_nothing);
  write("set-linear", by_shape);
  EXPECT_TRUE(choose_front_end(folder / "set", {}).value());
  EXPECT_GT(trained_baseline(*LabelledSet::open(set_file(folder / "set", SetPart::training)).value(), {}, "")
                .held_out.accuracy,
            0.9);
  EXPECT_FALSE(is_there(folder / "set-linear"));
  write("set-short", by_nothing);
  EXPECT_FALSE(choose_front_end(folder / "set", {}).value());
  EXPECT_FALSE(is_there(folder / "set-short"));
}
