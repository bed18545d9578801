#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

using namespace tutti;

namespace {

std::string digest(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

}  // namespace

// Vectors of NIST's "SHA_All" examples and FIPS 180-2, appendix B.
TEST(Sha256, TheStandardsVectorsHold) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheDigestOfTheWhole) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(i * 7));
  for (const std::size_t piece : {1U, 3U, 55U, 56U, 63U, 64U, 65U, 999U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.update(std::as_bytes(std::span(text).subspan(at, std::min(piece, text.size() - at))));
    EXPECT_EQ(hash.hex(), digest(text)) << "pieces of " << piece;
  }
}

TEST(Sha256, EveryLengthAroundABlockIsPaddedRight) {
  // Python: hashlib.sha256(b"".join(hashlib.sha256(b"x" * n).hexdigest().encode() for n in range(130))).hexdigest()
  std::string all;
  for (std::size_t size = 0; size < 130; ++size) all += digest(std::string(size, 'x'));
  EXPECT_EQ(digest(all), "199af942eba7fa5d1e16d475169eb24018b14e69339c93d26a9ea6d873b4ace6");
}

TEST(Sha256, ReadingTheDigestDoesNotDisturbIt) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(std::string_view("ab"))));
  EXPECT_EQ(hash.hex(), digest("ab"));
  hash.update(std::as_bytes(std::span(std::string_view("c"))));
  EXPECT_EQ(hash.hex(), digest("abc"));
}
