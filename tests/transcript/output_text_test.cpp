#include "transcript/output_text.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr Format kFormats[] = {Format::txt, Format::vtt, Format::srt, Format::tsv, Format::json};

bool has_text(const Transcript& transcript, Format format) {
  return output_has_text(format_transcript(transcript, format).value(), format);
}

TEST(OutputText, IsPresentWhereASegmentHasText) {
  for (const Format format : kFormats)
    for (const char* text : {" Good day.", " 1984", "0"})
      EXPECT_TRUE(has_text({.text = text, .segments = {{.end = 2, .text = text}}, .language = "en"}, format))
          << extension(format) << text;
}

TEST(OutputText, IsAbsentWithoutSegmentsOrInClearedOnes) {
  for (const Format format : kFormats) {
    EXPECT_FALSE(has_text({.text = "", .segments = {}, .language = "en"}, format)) << extension(format);
    EXPECT_FALSE(has_text({.text = "", .segments = {{.start = 1, .end = 2}}, .language = "en"}, format))
        << extension(format);
  }
}

}  // namespace
}  // namespace tutti
