#include "settings/option_table.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "view/text.h"

using namespace tutti;

namespace {

struct Knobs {
  std::string model;
  std::filesystem::path output_dir = ".";
  bool carry = false;
  std::optional<double> threshold = 2.4;
  std::int32_t threads = 0;
  std::string format = "all";
  std::string devices = "auto";
  std::vector<std::string> files;
};

OptionTable table_of(Knobs& knobs) {
  OptionTable table("transcribe", "Test.");
  table.positional(knobs.files, "FILE...", "files");
  table.add("model", knobs.model, "DIR", "model");
  table.add("output-dir", knobs.output_dir, "DIR", "folder").letter = 'o';
  table.add_switch("carry-initial-prompt", knobs.carry, "carry");
  table.add("compression-ratio-threshold", knobs.threshold, "X|None", "threshold");
  table.add("threads", knobs.threads, "N", "threads");
  table.add("output-format", knobs.format, "FORMAT", "format").choices = {"txt", "all"};
  table.add_list("devices", knobs.devices, "LIST", "devices");
  return table;
}

Knobs read(const std::vector<std::string>& arguments, const SettingSources& sources = {}) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  const auto action = table.read(arguments, sources);
  EXPECT_TRUE(action) << action.error().text();
  return knobs;
}

std::string complaint(const std::vector<std::string>& arguments, const SettingSources& sources = {}) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  const auto action = table.read(arguments, sources);
  return action ? "" : action.error().text();
}

}  // namespace

TEST(OptionTable, AnOpenaiWhisperCommandLineIsUnderstood) {
  const Knobs knobs = read({"a.mp3", "--output_dir", "out", "--carry_initial_prompt", "True",
                            "--compression_ratio_threshold", "None", "b_c.mp3", "--threads=4"});
  EXPECT_EQ(knobs.files, (std::vector<std::string>{"a.mp3", "b_c.mp3"}));
  EXPECT_EQ(knobs.output_dir, "out");
  EXPECT_TRUE(knobs.carry);
  EXPECT_EQ(knobs.threshold, std::nullopt);
  EXPECT_EQ(knobs.threads, 4);
}

TEST(OptionTable, ASwitchLeavesAFileAfterItAlone) {
  const Knobs knobs = read({"--carry-initial-prompt", "a.mp3"});
  EXPECT_TRUE(knobs.carry);
  EXPECT_EQ(knobs.files, (std::vector<std::string>{"a.mp3"}));
  EXPECT_FALSE(read({"--carry-initial-prompt", "False", "a.mp3"}).carry);
}

TEST(OptionTable, NegativeNumbersAreValuesAndADashIsAFile) {
  EXPECT_EQ(read({"--compression-ratio-threshold", "-1.5", "-"}).threshold, -1.5);
  EXPECT_EQ(read({"--", "--odd-name.wav"}).files.at(0), "--odd-name.wav");
}

TEST(OptionTable, AFlagWinsOverItsVariableAndAVariableOverTheFile) {
  const SettingSources sources{.environment = {{"TUTTI_MODEL", "from-variable"}, {"TUTTI_THREADS", "3"}},
                               .file = {{"model", "from-file"}, {"threads", "2"}, {"output_dir", "from-file"}},
                               .file_name = "config.toml"};
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"x.wav", "--model", "from-flag"}, sources));
  EXPECT_EQ(knobs.model, "from-flag");
  EXPECT_EQ(knobs.threads, 3);
  EXPECT_EQ(knobs.output_dir, "from-file");
  const std::string shown = table.show_config();
  EXPECT_NE(shown.find("# --model"), std::string::npos) << shown;
  EXPECT_NE(shown.find("# TUTTI_THREADS"), std::string::npos) << shown;
  EXPECT_NE(shown.find("# config.toml: output_dir"), std::string::npos) << shown;
  EXPECT_NE(shown.find("# default"), std::string::npos) << shown;
}

TEST(OptionTable, RepeatedListAppendsAndStrongerSourceReplaces) {
  const SettingSources sources{.environment = {{"TUTTI_DEVICES", "cpu"}}};
  EXPECT_EQ(read({"x.wav"}).devices, "auto");
  EXPECT_EQ(read({"x.wav"}, sources).devices, "cpu");
  EXPECT_EQ(read({"x.wav", "--devices", "cuda:0,cuda:1", "--devices=cuda:2"}, sources).devices, "cuda:0,cuda:1,cuda:2");
}

TEST(OptionTable, FlagOfWhisperXLeadsToOurs) {
  double threshold = 0.5;
  OptionTable table("transcribe", "");
  table.add("vad-threshold", threshold, "P", "");
  const auto onset = table.read({"--vad_onset", "0.4"}, {});
  ASSERT_FALSE(onset);
  EXPECT_NE(onset.error().text().find("whisperX's name for --vad-threshold"), std::string::npos)
      << onset.error().text();
  const auto offset = table.read({"--vad_offset", "0.4"}, {});
  ASSERT_FALSE(offset);
  EXPECT_EQ(offset.error().text().find("whisperX"), std::string::npos) << "there is no --vad-neg-threshold here";
}

TEST(OptionTable, ComplaintsNameTheFlagAndTheNearestRightOne) {
  EXPECT_NE(complaint({"x", "--otuput-dir", "y"}).find("Did you mean --output-dir?"), std::string::npos);
  EXPECT_NE(complaint({"x", "--threads", "many"}).find("--threads: expected a whole number, found 'many'"),
            std::string::npos);
  EXPECT_NE(complaint({"x", "--compression-ratio-threshold", "much"}).find("expected a number, or None, found 'much'"),
            std::string::npos);
  EXPECT_NE(complaint({"x", "--output-format", "doc"}).find("expected one of txt, all, found 'doc'"),
            std::string::npos);
  EXPECT_NE(complaint({"x", "--threads"}).find("expected a value"), std::string::npos);
  EXPECT_NE(complaint({}).find("expected FILE..."), std::string::npos);
  EXPECT_NE(complaint({"x"}, {.file = {{"modle", "m"}}, .file_name = "config.toml"}).find("Did you mean --model?"),
            std::string::npos);
}

TEST(OptionTable, WhereTooFewWordsAreGivenThoseThatAreThereAreNamed) {
  std::vector<std::string> words;
  OptionTable table("prepare", "Test.");
  table.positional(words, "whisper FILE...", "recordings", 2);
  const auto reported = [&](const std::vector<std::string>& arguments) {
    return table.read(arguments, {}).error().what;
  };
  EXPECT_EQ(reported({}), "expected whisper FILE..., found nothing");
  EXPECT_EQ(reported({"whisper"}), "expected whisper FILE..., found only whisper");
  EXPECT_TRUE(table.read({"whisper", "a.mp3"}, {}));
}

TEST(OptionTable, OptionInsteadOfValueIsAMissingValueError) {
  EXPECT_NE(complaint({"x", "--output-dir", "--carry_initial_prompt"})
                .find("--output-dir: expected a value (DIR), found the option --carry_initial_prompt"),
            std::string::npos);
  EXPECT_NE(complaint({"x", "-o", "--threads=4"}).find("write --output-dir=--threads=4"), std::string::npos);
  EXPECT_NE(complaint({"x", "--model", "--help"}).find("found the option --help"), std::string::npos);
  EXPECT_EQ(read({"x", "--model=--threads"}).model, "--threads");
  EXPECT_EQ(read({"x", "--model", "--threads of it"}).model, "--threads of it") << "a text, and no option's name";
  EXPECT_EQ(read({"x", "--model", "-1"}).model, "-1");
}

TEST(OptionTable, AValueOfSeveralLinesTakesOneInTheListOfSettings) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"--model", "a\nthreads = 9", "x"}, {}));
  EXPECT_NE(table.show_config().find("= a threads = 9"), std::string::npos) << table.show_config();
}

TEST(OptionTable, SettingSourcesAlignInOneColumn) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"--model", "größe-für-ü", "x"}, {}));
  std::set<std::size_t> columns;
  std::istringstream lines(table.show_config());
  for (std::string line; std::getline(lines, line);) columns.insert(columns_of(line.substr(0, line.find("  # "))));
  EXPECT_EQ(columns.size(), 1u) << table.show_config();
}

TEST(OptionTable, TheHelpShowsEveryFlagWithItsDefault) {
  Knobs knobs;
  const std::string help = table_of(knobs).help();
  EXPECT_NE(help.find("-o, --output-dir DIR"), std::string::npos);
  EXPECT_NE(help.find("threshold [2.4]"), std::string::npos);
  EXPECT_NE(help.find("FILE..."), std::string::npos);
}

TEST(OptionTable, TheDefaultInTheHelpIsNotWhatWasSetElsewhere) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"x.wav", "--threads", "7", "--compression-ratio-threshold", "3"}, {}));
  EXPECT_NE(table.help().find("threshold [2.4]"), std::string::npos) << table.help();
  EXPECT_NE(table.help().find("threads [0]"), std::string::npos) << table.help();
}

TEST(OptionTable, HelpIsGivenWhateverElseIsWrong) {
  const auto action = [](const std::vector<std::string>& arguments, const SettingSources& sources = {}) {
    Knobs knobs;
    const auto read = table_of(knobs).read(arguments, sources);
    return read ? *read : OptionTable::Action::run;
  };
  EXPECT_EQ(action({"--otuput-dir", "y", "--help"}), OptionTable::Action::help);
  EXPECT_EQ(action({"-h"}, {.environment = {{"TUTTI_THREADS", "many"}}}), OptionTable::Action::help);
  EXPECT_NE(action({"x.wav", "--model", "--help"}), OptionTable::Action::help) << "it stands in a value's place";
  EXPECT_EQ(read({"x.wav", "--", "-h"}).files.at(1), "-h");
}

TEST(OptionTable, ExamplesEndTheHelp) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  EXPECT_EQ(table.help().find("Examples"), std::string::npos);
  table.examples({"tutti transcribe a.wav"});
  EXPECT_NE(table.help().find("\nExamples\n    tutti transcribe a.wav\n"), std::string::npos);
}

TEST(OptionTable, ChoicesThatTheTextDoesNotNameAreListed) {
  std::string condition = "mixed", order = "asc";
  OptionTable table("synth", "Test.");
  table.add("condition", condition, "NAME", "of the band").choices = {"mixed", "quiet"};
  table.add("order", order, "asc|desc", "of the lines").choices = {"asc", "desc"};
  const std::string help = table.help();
  EXPECT_NE(help.find("of the band; one of mixed, quiet [mixed]"), std::string::npos) << help;
  EXPECT_NE(help.find("of the lines [asc]"), std::string::npos) << help;
}

TEST(OptionTable, ACommandThatReadsFlagsAlonePromisesNoOtherSources) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  EXPECT_NE(table.help().find("TUTTI_MODEL"), std::string::npos);
  table.reads_flags_alone();
  EXPECT_EQ(table.help().find("TUTTI_MODEL"), std::string::npos) << table.help();
}

TEST(OptionTable, FileBeginningWithDashGetsDotSlashHint) {
  EXPECT_NE(complaint({"-talk.wav"}).find("./-talk.wav"), std::string::npos);
}

TEST(OptionTable, AnAliasIsTheSameFlagAndNoSettingOfItsOwn) {
  bool vad = false;
  OptionTable table("transcribe", "Test.");
  table.add_switch("vad", vad, "leave out silence").alias = "vad-filter";
  ASSERT_TRUE(table.read({"--vad_filter", "True"}, {}));
  EXPECT_TRUE(vad);
  ASSERT_TRUE(table.read({"--vad-filter", "False"}, {}));
  EXPECT_FALSE(vad);
  EXPECT_EQ(table.values().size(), 1U) << "a batch's fingerprint does not change";
  EXPECT_FALSE(table.read({"--=True"}, {})) << "an option without an alias is not one without a name";
}

TEST(OptionTable, ChangedIsWhatHasAnotherValueThanItsDefault) {
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"x.wav", "--model", "other", "--threads", "0"}, {}));
  EXPECT_TRUE(table.is_changed("model"));
  EXPECT_FALSE(table.is_changed("threads")) << "given, but as it is anyway";
  EXPECT_FALSE(table.is_changed("devices"));
}

TEST(OptionTable, SettingWithoutAFlagIsNamedByItsSource) {
  const SettingSources sources{.environment = {{"TUTTI_MODEL", "m"}, {"TUTTI_THREADS", "3"}},
                               .file = {{"output_dir", "out"}},
                               .file_name = "config.toml"};
  Knobs knobs;
  OptionTable table = table_of(knobs);
  ASSERT_TRUE(table.read({"x.wav", "--model", "other"}, sources));
  EXPECT_EQ(table.given_by("model"), SourceKind::flag);
  EXPECT_EQ(table.given_by("threads"), SourceKind::variable);
  EXPECT_EQ(table.given_by("output-dir"), SourceKind::file);
  EXPECT_EQ(table.given_by("devices"), SourceKind::standard);
  EXPECT_LT(SourceKind::variable, SourceKind::flag);
  EXPECT_EQ(table.given_elsewhere(), (std::vector<std::pair<std::string, std::string>>{
                                         {"--output-dir", "config.toml: output_dir"}, {"--threads", "TUTTI_THREADS"}}));
}

TEST(OptionTable, LineOfAProgramNamesWhoseItIs) {
  std::string model;
  bool json = false;
  const auto read = [&](std::vector<std::string> words) {
    OptionTable table("tutti-engine evaluate", "");
    table.add("model", model);
    table.add("json", json);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    return table.read_line_of_program(arguments);
  };
  ASSERT_TRUE(read({"--model", "tiny", "--json"}));
  EXPECT_EQ(model, "tiny");
  EXPECT_TRUE(json);
  for (const char* flag : {"--modle", "--help"}) {
    const auto refused = read({flag});
    ASSERT_FALSE(refused) << flag;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("tutti-engine evaluate"));
    EXPECT_THAT(refused.error().hint, testing::HasSubstr("tutti writes this command line by itself"));
  }
}

namespace {

/// One form of a command that has three.
OptionTable form_of(Knobs& knobs) {
  OptionTable table("transcribe", "Test.");
  table.add("threads", knobs.threads, "N", "threads");
  table.add("model", knobs.model, "DIR", "model");
  table.add_switch("carry", knobs.carry, "carry");
  table.form({.name = "a file", .advice = {{"rate", "A file has its own"}}},
             {{.name = "a stream", .options = {"threads", "rate", "delay"}}, {.name = "a call", .options = {"rate"}}});
  return table;
}

}  // namespace

TEST(OptionTable, FlagOfAnotherFormIsRefusedByName) {
  Knobs knobs;
  OptionTable table = form_of(knobs);
  EXPECT_EQ(table.read({"--rate", "3"}, {}).error().text(),
            "--rate: is for a stream or a call, and this is a file. A file has its own; see 'tutti transcribe --help'");
  EXPECT_EQ(table.read({"--delay=3"}, {}).error().text(),
            "--delay: is for a stream, and this is a file. Leave it out; see 'tutti transcribe --help'");
  EXPECT_NE(table.read({"--delai=3"}, {}).error().text().find("Did you mean --delay?"), std::string::npos);
}

TEST(OptionTable, FileMayHaveKeysOfOtherForms) {
  Knobs knobs;
  OptionTable table = form_of(knobs);
  EXPECT_TRUE(table.read({}, {.file = {{"rate", "3"}, {"threads", "2"}}, .file_name = "config.toml"}));
  EXPECT_EQ(knobs.threads, 2);
  EXPECT_FALSE(table.read({}, {.file = {{"rat", "3"}}, .file_name = "config.toml"}));
}

TEST(OptionTable, RulesNameWhatAnOptionNeedsOrExcludes) {
  const std::vector<OptionRule> rules{{.option = "threads", .needs = "model"},
                                      {.option = "carry", .excludes = {"model", "threads"}, .why = "is for one run"}};
  const auto broken = [&](const std::vector<std::string>& arguments) {
    Knobs knobs;
    OptionTable table = form_of(knobs);
    EXPECT_TRUE(table.read(arguments, {}));
    const auto fits = table.expect(rules);
    return fits ? "" : fits.error().what;
  };
  EXPECT_EQ(broken({"--threads", "2"}), "--threads: has a meaning only with --model");
  EXPECT_EQ(broken({"--carry", "--model", "x"}), "--carry: is for one run, without --model, --threads");
  EXPECT_EQ(broken({"--threads", "2", "--model", "x"}), "");
  EXPECT_EQ(broken({"--threads", "0", "--carry"}), "") << "the default is as if it were not given";
}
