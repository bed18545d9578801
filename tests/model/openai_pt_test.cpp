#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/damage.h"
#include "model/formats/formats.h"
#include "model/formats/pickle.h"

namespace tutti {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string random_pt() {
  return content_of(golden_folder() / "random/random.pt");
}

std::string error_of(const std::string& file) {
  const auto model = parse_openai_pt(bytes_of(file));
  return model ? "accepted" : model.error().text();
}

TEST(OpenAiPt, TheDimsAndEveryTensorComeOut) {
  const auto file = random_pt();
  const auto model = parse_openai_pt(bytes_of(file));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->dims, (WhisperDims{.n_mels = 8,
                                      .n_audio_ctx = 30,
                                      .n_audio_state = 24,
                                      .n_audio_head = 2,
                                      .n_audio_layer = 2,
                                      .n_vocab = 120,
                                      .n_text_ctx = 20,
                                      .n_text_state = 24,
                                      .n_text_head = 3,
                                      .n_text_layer = 2}));
  const auto found = std::ranges::find(model->tensors, "decoder.token_embedding.weight", &StoredTensor::name);
  ASSERT_NE(found, model->tensors.end());
  EXPECT_EQ(found->type, ElementType::f16);
  EXPECT_EQ(found->shape, (std::vector<std::int64_t>{120, 24}));
}

TEST(OpenAiPt, ACallOfAnythingButATensorIsNamedAndNotMade) {
  EXPECT_THAT(error_of(replaced(random_pt(), "_rebuild_tensor_v2", "_rebuild_tensor_v3")),
              HasSubstr("'torch._utils._rebuild_tensor_v3', which is not executed"));
  EXPECT_THAT(error_of(replaced(random_pt(), "HalfStorage", "EvilStorage")), HasSubstr("'torch.EvilStorage'"));
}

TEST(OpenAiPt, AStorageThatIsTooShortForItsTensorIsAnError) {
  EXPECT_THAT(error_of(replaced(random_pt(), "HalfStorage\n", "LongStorage\n")), HasSubstr("does not fit into its"));
}

TEST(OpenAiPt, TruncationAnywhereIsAnErrorAndNeverAModel) {
  const auto file = random_pt();
  for (std::size_t size = 0; size < file.size(); size += 977) {
    EXPECT_NE(error_of(file.substr(0, size)), "accepted") << size;
  }
}

TEST(OpenAiPt, FileNotFromTorchIsAnErrorThatNamesTheReason) {
  EXPECT_THAT(error_of("hello"), HasSubstr("no zip directory"));
  const std::string empty_zip = std::string("PK\5\6") + std::string(18, '\0');
  EXPECT_THAT(error_of(empty_zip), HasSubstr("no data.pkl"));
}

TEST(Pickle, NumbersTextsAndContainersAreRead) {
  // pickle.dumps({'a': [1, -2, 70000, 2.5, None, True], 'b': (3,)}, 2)
  constexpr char dumped[] =
      "\x80\x02}q\0(X\1\0\0\0aq\1]q\2(K\1J\xfe\xff\xff\xffJp\x11\1\0G@\4\0\0\0\0\0\0N\x88"
      "eX\1\0\0\0bq\3K\3\x85q\4u.";
  const std::string bytes(dumped, sizeof dumped - 1);
  const auto pickle = parse_pickle(bytes_of(bytes));
  ASSERT_TRUE(pickle) << pickle.error().text();
  const auto& root = pickle->nodes[pickle->root];
  ASSERT_EQ(root.kind, PickleNode::Kind::dict);
  ASSERT_EQ(root.items.size(), 4u);
  EXPECT_EQ(pickle->nodes[root.items[0]].text, "a");
  const auto& list = pickle->nodes[root.items[1]];
  ASSERT_EQ(list.items.size(), 6u);
  EXPECT_EQ(pickle->nodes[list.items[1]].integer, -2);
  EXPECT_EQ(pickle->nodes[list.items[2]].integer, 70000);
  EXPECT_EQ(pickle->nodes[list.items[3]].real, 2.5);
  EXPECT_EQ(pickle->nodes[list.items[4]].kind, PickleNode::Kind::none);
  EXPECT_EQ(pickle->nodes[list.items[5]].integer, 1);
  EXPECT_EQ(pickle->nodes[root.items[3]].kind, PickleNode::Kind::tuple);
}

TEST(Pickle, ACommandIsOnlyWrittenDown) {
  const std::string bytes = "cposix\nsystem\nX" + std::string("\4\0\0\0", 4) + "true\x85R.";
  const auto pickle = parse_pickle(bytes_of(bytes));
  ASSERT_TRUE(pickle) << pickle.error().text();
  const auto& root = pickle->nodes[pickle->root];
  EXPECT_EQ(root.kind, PickleNode::Kind::call);
  EXPECT_EQ(pickle->nodes[root.items[0]].text, "posix\nsystem");
}

TEST(Pickle, OpcodesThatTorchDoesNotWriteAreNamed) {
  const auto pickle = parse_pickle(bytes_of("\x93."));
  ASSERT_FALSE(pickle);
  EXPECT_THAT(pickle.error().what, HasSubstr("opcode 147 at byte 0"));
}

TEST(Pickle, AStackThatRunsEmptyIsAnError) {
  for (const char* bytes : {"R.", ".", "u", "K\1s", "a", "h\1.", "]K\1K\2s."}) {
    EXPECT_FALSE(parse_pickle(bytes_of(bytes))) << bytes;
  }
}

}  // namespace
}  // namespace tutti
