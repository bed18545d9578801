#include "text/replacement_list.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/temp_folder.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using testing::HasSubstr;

class Replacements : public testing::Test {
 protected:
  Result<ReplacementList> list_of(const std::string& content) {
    EXPECT_TRUE(write_file_atomically(folder_ / "names.tsv", content));
    return ReplacementList::read(folder_ / "names.tsv");
  }

  /// `text` with everything replaced that is in the list.
  std::string replaced(const std::string& content, const std::string& text) {
    const auto list = list_of(content);
    EXPECT_TRUE(list) << list.error().text();
    std::u32string out = to_code_points(text);
    auto edits = list->edits_of(out);
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
      out.replace(edit->begin, edit->end - edit->begin, edit->text);
    return to_utf8(out);
  }

  TempFolder folder_;
};

TEST_F(Replacements, WholeWordsAreFoundInAnyCase) {
  EXPECT_EQ(replaced("cooper netties\tKubernetes\n", "COOPER netties, cooper  Netties. Coopers netties"),
            "Kubernetes, Kubernetes. Coopers netties");
  EXPECT_EQ(replaced("jon\tJohn\n", "Jon's jonquil; (jon) jon-jon Dijon jon_"),
            "John's jonquil; (John) John-John Dijon jon_");
}

TEST_F(Replacements, OfSeveralTheLongestIsTaken) {
  EXPECT_EQ(replaced("new\tfresh\nnew york\tNYC\nnew york times\tNYT\n", "new york times new york new"),
            "NYT NYC fresh");
}

TEST_F(Replacements, ACapitalAtTheBeginningIsKept) {
  EXPECT_EQ(replaced("colour\tcolor\néclair\técu\n", "Colour colour COLOUR Éclair"), "Color color Color Écu");
}

TEST_F(Replacements, WhatWasReplacedIsNotReplacedAgain) {
  EXPECT_EQ(replaced("a\tb\nb\ta\n", "a b a"), "b a b");
}

TEST_F(Replacements, CommentsBlankLinesAndMarksArePassedOver) {
  const auto list = list_of("\xEF\xBB\xBF# names\r\n\r\nsmyth\tSmith\r\n   \n");
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->size(), 1u);
  EXPECT_EQ(replaced("\xEF\xBB\xBF# names\r\nsmyth\tSmith\r\n", "smyth"), "Smith");
}

TEST_F(Replacements, ComposedAndTypographicFormsAreTheSame) {
  EXPECT_EQ(replaced("cafe\u0301\tKaffee\no'brien\tO’Brian\n", "café O’Brien o'brien"), "Kaffee O’Brian O’Brian");
}

TEST_F(Replacements, WordsOfScriptsWithoutSpacesAreFoundInside) {
  EXPECT_EQ(replaced("东京\t東京\n", "我在东京工作"), "我在東京工作");
}

TEST_F(Replacements, SignsAtAnEdgeNeedNoBorder) {
  EXPECT_EQ(replaced("c plus plus\tC++\nc++\tC++\n", "c++, c plus plus and c++11"), "C++, C++ and C++11");
}

TEST_F(Replacements, ErrorsNameTheFileAndTheLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"a\tb\nno tab\n", "names.tsv, line 2: expected the old text, a tab and the new text, found 'no tab'"},
      {"a\tb\tc\n", "names.tsv, line 1: expected one tab"},
      {"a\t \n", "names.tsv, line 1: expected text on both sides of the tab"},
      {"\tb\n", "names.tsv, line 1: expected text on both sides of the tab"},
      {"# x\nA\tb\na\tc\n", "names.tsv, line 3: expected another old text than in line 2"},
      {"\xff\tb\n", "names.tsv, line 1: expected UTF-8"}};
  for (const auto& [content, expected] : wrong) {
    const auto list = list_of(content);
    ASSERT_FALSE(list) << content;
    EXPECT_THAT(list.error().what, HasSubstr(expected));
  }
  const auto none = ReplacementList::read(folder_ / "none.tsv");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, Fault::missing);
}

}  // namespace
}  // namespace tutti
