#include "serve/http/http.h"

#include <gtest/gtest.h>

#include "net/url_fetch.h"

using namespace tutti;

TEST(Url, PercentSequencesBecomeTheirBytes) {
  EXPECT_EQ(percent_decoded("/v1/models/openai%2Ftiny%20en"), "/v1/models/openai/tiny en");
  EXPECT_EQ(percent_decoded("100%"), "100%");
  EXPECT_EQ(percent_decoded("%4"), "%4");
  EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
}

TEST(Url, QueryIsReadByName) {
  const auto parameters = query_parameters("limit=5&q=a+b%26c&empty=&flag&limit=6");
  EXPECT_EQ(parameters.at("limit"), "6");
  EXPECT_EQ(parameters.at("q"), "a b&c");
  EXPECT_EQ(parameters.at("empty"), "");
  EXPECT_EQ(parameters.at("flag"), "");
}
