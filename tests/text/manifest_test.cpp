#include <gmock/gmock.h>

#include <chrono>
#include <sstream>

#include "support/temp_folder.h"
#include "text/manifest/date_time.h"
#include "text/manifest/read.h"
#include "text/manifest/record.h"

using namespace tutti;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Everything a text gives.
struct Found {
  std::vector<ManifestEntry> entries;
  std::vector<std::string> problems;
  Result<ManifestTally> tally = ManifestTally{};

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& entry : entries) all.push_back(entry.path);
    return all;
  }
  ManifestSink sink() {
    return {[this](ManifestEntry&& entry) { return entries.push_back(std::move(entry)), true; },
            [this](Error&& error) { problems.push_back(error.text()); }};
  }
};

Found read(std::string_view text, ManifestFormat format, const ManifestRules& rules = {}) {
  Found found;
  found.tally = read_manifest(text, format, "m", rules, found.sink());
  return found;
}

constexpr std::string_view kNote = R"({
  "count": 5, "exported_at": "2025-11-12T10:15:23.000000", "filter": {"asset_type": "Audio"},
  "assets": [
    {"id": "A1B2C3D4E5F60718293A4B5C6D7E8F90", "name": "Newest", "file_name": "new.mp3", "asset_type": "Audio",
     "folder_path": "Lectures/1975", "media_duration_seconds": 61.5, "decade": 1970, "notes": null},
    {"id": "2", "name": "A film", "file_name": "film.mp4", "asset_type": "Video", "folder_path": "Films"},
    {"id": "3", "name": "Unsorted", "file_name": "x.mp3", "asset_type": "Audio", "folder_path": "Resources/To Be Sorted"},
    {"id": "4", "name": "Gone", "file_name": "gone.mp3", "asset_type": "Audio", "folder_path": "Lectures",
     "deleted_at": "2024-01-01"},
    {"id": "5", "name": "Oldest.mp3", "asset_type": "Audio", "folder_path": "Lectures/1969",
     "media_duration_seconds": "3600.25"}
  ]
})";

TEST(Manifest, ItsFormatIsThatOfItsExtensionInAnyCase) {
  EXPECT_EQ(manifest_format("LIST.TXT"), ManifestFormat::list);
  EXPECT_EQ(manifest_format("a/table.Csv"), ManifestFormat::csv);
  EXPECT_FALSE(manifest_format("talk.WAV"));
}

TEST(NoteManifest, OnlyWantedAudioOldestFirstWithItsOwnFields) {
  const Found found = read(kNote, ManifestFormat::json);
  ASSERT_TRUE(found.tally);
  EXPECT_THAT(found.paths(), ElementsAre("Lectures/1969/Oldest.mp3", "Lectures/1975/new.mp3"));
  EXPECT_EQ(found.entries[0].duration, Seconds(3600.25));
  EXPECT_EQ(found.entries[1].id, "a1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90");
  EXPECT_EQ(found.entries[1].name, "Newest");
  EXPECT_EQ(found.entries[1].extra, R"({"asset_type":"Audio","decade":1970,"notes":null})");
  EXPECT_EQ(found.entries[1].origin, "m:4");
  EXPECT_EQ(found.entries[0].origin, "m:10");
  EXPECT_EQ(found.tally->other_type, 1);
  EXPECT_EQ(found.tally->excluded, 1);
  EXPECT_EQ(found.tally->deleted, 1);
  EXPECT_EQ(left_out_text(*found.tally, {}), "1 not of the type Audio, 1 in Resources/To Be Sorted, 1 deleted");
  EXPECT_EQ(left_out_text({.taken = 3}, {}), "");
}

TEST(NoteManifest, TemplateGivesTheAudioPath) {
  const Found found = read(kNote, ManifestFormat::json, {.path_template = "archive/{id}.wav", .asset_type = "Video"});
  EXPECT_THAT(found.paths(), ElementsAre("archive/2.wav"));
}

TEST(NoteManifest, AValueThatLeadsOutOfTheFolderIsRefused) {
  const Found found = read(R"({"assets": [{"name": "../../etc/passwd", "folder_path": "a"},
      {"name": "fine..mp3", "folder_path": "b"}]})",
                           ManifestFormat::json);
  EXPECT_THAT(found.paths(), ElementsAre("b/fine..mp3"));
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("m:1: field 'name': '../../etc/passwd' leads out")));
}

TEST(NoteManifest, ErrorsNameFileLineAndField) {
  const Found found = read(R"([
    {"path": "a.mp3", "duration": "long"},
    {"title": "no path"},
    {"path": "b.mp3", "priority": 2.5},
    7,
    {"path": "c.mp3"}
  ])",
                           ManifestFormat::json);
  EXPECT_THAT(found.problems, ElementsAre("m:2: field 'duration': expected seconds, found 'long'",
                                          HasSubstr("m:3: expected a field 'path', or 'folder_path' and 'file_name'"),
                                          HasSubstr("m:4: field 'priority': expected a whole number"),
                                          "m:5: expected an object, found number"));
  EXPECT_THAT(found.paths(), ElementsAre("c.mp3"));
  EXPECT_EQ(found.tally->unusable, 4);
}

TEST(NoteManifest, InvalidManifestErrorNamesTheLine) {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"{\"count\": 1}", "m: line 1: expected a list 'assets'"},
           {"{\"assets\": [{}\n{}]}", "m: line 2: expected ','"},
           {"{\"assets\": [{\"a\": \"b}]}", "m: line 1: the string is not closed"},
           {"[{\"a\": [}]", "m: line 1: a bracket is closed by one of the other kind"},
           {"[1] 2", "m: line 1: expected nothing more after the document"},
           {"", "m: line 1: expected '{'"},
           {"[" + std::string(100, '[') + std::string(100, ']') + "]", "m: line 1: nested deeper than 64 levels"}}) {
    const Found found = read(text, ManifestFormat::json);
    ASSERT_FALSE(found.tally) << text;
    EXPECT_EQ(found.tally.error().text(), complaint);
  }
}

TEST(NoteManifest, OnlyDeliveredAssetsAreParsed) {
  std::string text = R"({"count": 100001, "assets": [)";
  for (int i = 0; i < 100'000; ++i) text += "\n{\"name\": no JSON at all},";  // its end can be found, and no more
  text += R"({"id": "last", "name": "oldest", "asset_type": "Audio", "folder_path": "f"}]})";
  std::string first;
  int problems = 0;
  const ManifestSink one{[&](ManifestEntry&& entry) { return first = entry.path, false; },
                         [&](Error&&) { ++problems; }};
  const auto tally = read_manifest(text, ManifestFormat::json, "m", {}, one);
  ASSERT_TRUE(tally) << tally.error().text();
  EXPECT_EQ(first, "f/oldest");
  EXPECT_EQ(tally->taken, 1);
  EXPECT_EQ(problems, 0);
  const Found all = read(text, ManifestFormat::json);
  EXPECT_EQ(all.problems.size(), 100'000U) << "parsed, each of them would be one";
}

TEST(ManifestTable, ColumnsAreNamedAndQuotedAsSpreadsheetsDo) {
  const Found found = read(
      "path;uuid;title;duration;speaker\r\n"
      "\"a;b.mp3\";7;\"He said \"\"hello\"\"\nand left\";60;Ann\r\n"
      "\r\n"
      "c.mp3;8;;;Bob\r\n",
      ManifestFormat::csv);
  ASSERT_TRUE(found.tally);
  ASSERT_EQ(found.entries.size(), 2U);
  EXPECT_EQ(found.entries[0].path, "a;b.mp3");
  EXPECT_EQ(found.entries[0].name, "He said \"hello\"\nand left");
  EXPECT_EQ(found.entries[0].duration, Seconds(60));
  EXPECT_EQ(found.entries[0].extra, R"({"speaker":"Ann"})");
  EXPECT_EQ(found.entries[1].origin, "m:5");
  EXPECT_FALSE(found.entries[1].duration);
}

TEST(Manifest, DurationsAreUnderstoodAsClocksShowThem) {
  const auto found = read("path;duration\na;1:30\nb;2,5 \nc;1:00:00.5\nd;1:75\ne; \n", ManifestFormat::csv);
  ASSERT_EQ(found.entries.size(), 4U);
  EXPECT_EQ(found.entries[0].duration, Seconds(90));
  EXPECT_EQ(found.entries[1].duration, Seconds(2.5));
  EXPECT_EQ(found.entries[2].duration, Seconds(3600.5));
  EXPECT_FALSE(found.entries[3].duration);
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("expected seconds, found '1:75'")));
}

TEST(ManifestTable, DecimalCommasStandBesideSemicolons) {
  const Found found =
      read("Audio;Duration;note\na.mp3;3,5;1,5\nb.mp3;1.234,25;x\nc.mp3;7;x\nd.mp3;3,5,1;x\n", ManifestFormat::csv);
  EXPECT_THAT(found.paths(), ElementsAre("a.mp3", "b.mp3", "c.mp3"));
  EXPECT_EQ(found.entries[0].duration, Seconds(3.5));
  EXPECT_EQ(found.entries[1].duration, Seconds(1234.25));
  EXPECT_EQ(found.entries[0].extra, R"({"note":"1,5"})") << "only of numbers that are read here";
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("m:5: field 'duration': expected seconds, found '3,5,1'")));
  EXPECT_THAT(read("path,duration\na.mp3,\"3,5\"\n", ManifestFormat::csv).problems,
              ElementsAre(HasSubstr("expected seconds")));
}

TEST(ManifestTable, ColumnNamesIgnoreCase) {
  for (const char* header : {"Audio", "FILENAME", " Path ", "File_Name", "audio_file"})
    EXPECT_THAT(read(std::string(header) + "\nx.mp3\n", ManifestFormat::csv).paths(), ElementsAre("x.mp3")) << header;
  EXPECT_THAT(read("[{\"Audio\": \"x.mp3\"}]", ManifestFormat::json).paths(), ElementsAre("x.mp3"));
  EXPECT_THAT(read("Name,path\nTides,x.mp3\n", ManifestFormat::csv, {.path_template = "{Name}.wav"}).paths(),
              ElementsAre("Tides.wav"));
}

TEST(ManifestTable, AnErrorNamesTheFieldsThatWereFound) {
  EXPECT_THAT(read("sound,Sprecher\na.mp3,b\n", ManifestFormat::csv).problems,
              ElementsAre(HasSubstr("'folder_path' and 'file_name', found 'sound', 'Sprecher'")));
}

TEST(ManifestTable, Utf16IsRead) {
  const std::string_view plain = "path\tname\nx.mp3\tTides\n";
  std::string wide = "\xFF\xFE";
  for (const char c : plain) wide += std::string{c, '\0'};
  const Found found = read(wide, ManifestFormat::csv);
  EXPECT_THAT(found.paths(), ElementsAre("x.mp3"));
  EXPECT_EQ(found.entries.at(0).name, "Tides");
}

TEST(ManifestLines, PathsThatAreNotUtf8AreKept) {
  EXPECT_THAT(read("{\"path\": \"caf\xE9.wav\"}\n{\"path\": \"caf\\udce9.mp3\"}\n", ManifestFormat::jsonl).paths(),
              ElementsAre("caf\xE9.wav", "caf\xE9.mp3"));
  EXPECT_THAT(read("caf\xE9.wav\n", ManifestFormat::list).paths(), ElementsAre("caf\xE9.wav"));
  EXPECT_THAT(read("path\ncaf\xE9.wav\n", ManifestFormat::csv).paths(), ElementsAre("caf\xE9.wav"));
}

TEST(ManifestTable, ARowWithTooFewFieldsCostsItselfAlone) {
  const Found found = read("path,id\na.mp3\nb.mp3,2\n", ManifestFormat::csv);
  EXPECT_THAT(found.problems, ElementsAre("m:2: expected 2 fields, found 1"));
  EXPECT_THAT(found.paths(), ElementsAre("b.mp3"));
}

TEST(ManifestTable, AQuoteThatIsNeverClosedNamesItsLine) {
  const Found found = read("path,id\na.mp3,1\n\"b.mp3,2\nc.mp3,3\n", ManifestFormat::csv);
  ASSERT_FALSE(found.tally);
  EXPECT_EQ(found.tally.error().text(), "m: line 3: the quote is not closed");
}

TEST(ManifestLines, APathPerLineOrAnObjectPerLine) {
  EXPECT_THAT(read("a b.mp3\r\n\n#1.mp3\nlast.mp3", ManifestFormat::list).paths(),
              ElementsAre("a b.mp3", "#1.mp3", "last.mp3"));
  EXPECT_THAT(read("a b.mp3\rlast.mp3\r", ManifestFormat::list).paths(), ElementsAre("a b.mp3", "last.mp3"));
  const Found found = read(
      "{\"audio_filepath\": \"a.wav\", \"text\": \"hm\"}\n{broken\n{\"path\": \"b.wav\", \"class\": "
      "\"interactive\", \"priority\": 3}\n",
      ManifestFormat::jsonl);
  EXPECT_THAT(found.paths(), ElementsAre("a.wav", "b.wav"));
  EXPECT_EQ(found.entries[0].extra, R"({"text":"hm"})");
  EXPECT_EQ(found.entries[1].job_class, JobClass::interactive);
  EXPECT_EQ(found.entries[1].priority, 3);
  EXPECT_THAT(found.problems, ElementsAre("m:2: expected a JSON object, found broken JSON"));
}

TEST(ManifestTable, DeadlineMakesARecordingInteractiveWithoutAClass) {
  const Found found = read(
      "path,class,deadline\n"
      "a.mp3,,2026-11-23T18:30:00Z\n"
      "b.mp3,normal,2026-11-23 19:30+01:00\n"
      "c.mp3,,\n"
      "d.mp3,,tomorrow\n",
      ManifestFormat::csv);
  ASSERT_EQ(found.entries.size(), 3U);
  EXPECT_EQ(found.entries[0].job_class, JobClass::interactive);
  EXPECT_TRUE(found.entries[0].deadline);
  EXPECT_EQ(found.entries[1].deadline, found.entries[0].deadline);
  EXPECT_EQ(found.entries[1].job_class, JobClass::normal);
  EXPECT_FALSE(found.entries[2].deadline);
  EXPECT_EQ(found.entries[2].job_class, std::nullopt);
  EXPECT_EQ(found.entries[1].extra, "{}");
  EXPECT_THAT(found.problems, ElementsAre(HasSubstr("m:5: field 'deadline': expected a date and time such as")));
}

TEST(DateTime, IsReadInTheFormsOfIso8601) {
  const auto day = std::chrono::sys_days(std::chrono::year(2026) / 11 / 23);
  const auto at = [&](std::chrono::milliseconds time) { return std::optional(day + time); };
  EXPECT_EQ(parse_date_time("2026-11-23T18:30:05Z"), at(18h + 30min + 5s));
  EXPECT_EQ(parse_date_time("2026-11-23 18:30"), at(18h + 30min)) << "UTC without a zone";
  EXPECT_EQ(parse_date_time("2026-11-23T18:30:05.25-02:30"), at(21h + 5s + 250ms));
  EXPECT_EQ(parse_date_time("2026-11-23T00:30+0100"), at(-30min));
  EXPECT_EQ(parse_date_time("2026-11-23T00:30+01"), at(-30min));
  EXPECT_EQ(parse_date_time("2026-11-23"), at(24h)) << "by the end of that day";
  for (const char* text : {"", "2026", "2026-02-30", "2026-11-23T", "2026-11-23T25:00", "2026-11-23T18:30:",
                           "23.11.2026", "2026-11-23T18:30 CET", "2026-11-23T18:30Z!", "-026-11-23", "1764000000"})
    EXPECT_FALSE(parse_date_time(text)) << text;
}

TEST(ManifestLines, AListOfPathsInJsonIsAListToo) {
  EXPECT_THAT(read("[\"a.mp3\", {\"path\": \"b.mp3\"}]", ManifestFormat::json).paths(), ElementsAre("a.mp3", "b.mp3"));
}

TEST(ManifestLines, ALineNestedWithoutEndCostsItselfAlone) {
  const std::string deep = "{\"path\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  const Found found = read(deep + "\n{\"path\": \"b.mp3\"}", ManifestFormat::jsonl);
  EXPECT_THAT(found.problems, ElementsAre("m:1: nested too deeply"));
  EXPECT_THAT(found.paths(), ElementsAre("b.mp3"));
}

TEST(ManifestLines, AListWithNulsIsReadByThem) {
  using namespace std::string_literals;
  const std::string names = "a.wav\0b\nc.wav\0 d.wav \r\0"s;
  EXPECT_THAT(read(names, ManifestFormat::list).paths(), ElementsAre("a.wav", "b\nc.wav", " d.wav \r"));
  EXPECT_THAT(read("a.wav\0b.wav"s, ManifestFormat::list).paths(), ElementsAre("a.wav", "b.wav"));
  EXPECT_THAT(read("only.wav\0\n"s, ManifestFormat::list).paths(), ElementsAre("only.wav"));
  EXPECT_THAT(read("{\"path\": \"a\"}\0{\"path\": \"b\"}\0"s, ManifestFormat::jsonl).paths(), ElementsAre("a", "b"));
  std::istringstream in(names);
  Found found;
  ASSERT_TRUE(read_manifest_stream(in, "-", {}, found.sink()));
  EXPECT_THAT(found.paths(), ElementsAre("a.wav", "b\nc.wav", " d.wav \r"));
}

TEST(ManifestLines, AnEncodingThatIsNotUnderstoodIsRefusedAsAWhole) {
  using namespace std::string_literals;
  const auto in_utf16 = [](const std::string& text, bool big) {
    std::string wide;
    for (const char c : text) wide += big ? std::string{'\0', c} : std::string{c, '\0'};
    return wide;
  };
  const std::string names = "talks/a.wav\nb.wav\r\n", table = "path,id\na.wav,1\n";
  std::string utf32;
  for (const char c : names) utf32 += std::string{c, '\0', '\0', '\0'};
  const std::string cyrillic = "\x1b\x04\x35\x04\x3a\x04\x46\x04\x38\x04\x4f\x04.\0w\0a\0v\0\n\0"s;
  using Format = ManifestFormat;
  for (const auto& [text, format] :
       std::vector<std::pair<std::string, Format>>{{in_utf16(names, false), Format::list},
                                                   {in_utf16(names, true), Format::list},
                                                   {cyrillic, Format::list},
                                                   {utf32, Format::list},
                                                   {"\xff\xfe\0\0"s + utf32, Format::list},
                                                   {"\x1f\x8b\x08\0\0packed\x02\0"s, Format::list},
                                                   {in_utf16(table, false), Format::csv},
                                                   {"path\na\0b.wav\n"s, Format::csv},
                                                   {in_utf16("[\"a.wav\"]", false), Format::json}}) {
    Found found;
    const auto refused = read_manifest(text, format, "m", {}, found.sink());
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().fault, Fault::unsupported);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("m: expected text in UTF-8, found ")) << text;
    EXPECT_TRUE(found.entries.empty()) << text;
  }
  EXPECT_THAT(read("\xff\xfe" + in_utf16(names, false), Format::list).paths(), ElementsAre("talks/a.wav", "b.wav"));
  EXPECT_THAT(read("\xfe\xff" + in_utf16(names, true), Format::list).paths(), ElementsAre("talks/a.wav", "b.wav"));
  EXPECT_THAT(read("\xff\xfe" + in_utf16(table, false), Format::csv).paths(), ElementsAre("a.wav"));
  EXPECT_THAT(read("caf\xe9.wav\n", Format::list).paths(), ElementsAre("caf\xe9.wav")) << "names are bytes";
}

TEST(ManifestLines, ANameWithANulInItIsRefusedAlone) {
  const Found found = read("{\"path\": \"a.wav\\u0000b.wav\"}\n{\"path\": \"c.wav\"}", ManifestFormat::jsonl);
  EXPECT_THAT(found.problems, ElementsAre("m:1: expected the name of a file, found one with a NUL in it"));
  EXPECT_THAT(found.paths(), ElementsAre("c.wav"));
}

TEST(ManifestLines, AStreamHandsOnEveryLineAsItComes) {
  std::istringstream in(
      "\xef\xbb\xbf"
      "a.mp3\n  \n{\"path\": \"b.mp3\", \"id\": 7}\n");
  Found found;
  ASSERT_TRUE(read_manifest_stream(in, "-", {}, found.sink()));
  EXPECT_THAT(found.paths(), ElementsAre("a.mp3", "b.mp3"));
  EXPECT_EQ(found.entries[1].id, "7");
}

TEST(ManifestLines, AReaderStopsWhenItsSinkHasEnough) {
  int taken = 0;
  const ManifestSink two{[&](ManifestEntry&&) { return ++taken < 2; }, [](Error&&) {}};
  ASSERT_TRUE(read_manifest("a\nb\nc\n", ManifestFormat::list, "m", {}, two));
  EXPECT_EQ(taken, 2);
}

TEST(ManifestIds, UuidsGetOneFormAndOthersAreKept) {
  EXPECT_EQ(normalised_uuid("A1B2C3D4E5F60718293A4B5C6D7E8F90"), "a1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90");
  EXPECT_EQ(normalised_uuid("A1B2C3D4-E5F6-0718-293A-4B5C6D7E8F90"), "a1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90");
  EXPECT_EQ(normalised_uuid("talk-1969"), "talk-1969");
  EXPECT_EQ(normalised_uuid("A1B2"), "A1B2");
}

}  // namespace
