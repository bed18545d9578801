# tutti_embed(<module> <file> <name>): the text of <file> as `const std::string_view tutti::<name>` inside the module's library; a
# header of the module declares it. For small text that the program needs at run time wherever it lies.
function(tutti_embed module file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} content)
  set(source ${PROJECT_BINARY_DIR}/embedded/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include <string_view>
namespace tutti {
extern const std::string_view @name@;
const std::string_view @name@ = R"embedded(@content@)embedded";
}  // namespace tutti
]])
  target_sources(tutti_${module} PRIVATE ${source})
endfunction()

# tutti_embed_bytes(<module> <file> <name>): the same for any bytes, on a boundary of 64.
function(tutti_embed_bytes module file name)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
  file(SIZE ${path} size)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  set(source ${PROJECT_BINARY_DIR}/embedded/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
#include <string_view>
asm(".pushsection .rodata\n.balign 64\ntutti_@name@:\n.incbin \"@path@\"\n.popsection\n");
extern "C" [[gnu::visibility("hidden")]] const char tutti_@name@[];
namespace tutti {
extern const std::string_view @name@;
const std::string_view @name@(tutti_@name@, @size@);
}  // namespace tutti
]=])
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${path})
  target_sources(tutti_${module} PRIVATE ${source})
endfunction()

# tutti_embed_tokens(<module> <file> <name>): the same for the tokens of a .tiktoken file, without base64 and ranks.
# Every program has them, and packed they are three fifths as large in a compressed package.
function(tutti_embed_tokens module file name)
  set(script ${PROJECT_SOURCE_DIR}/tools/pack_tokens.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${script})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/embedded)
  set(packed ${PROJECT_BINARY_DIR}/embedded/${name}.bin)
  execute_process(COMMAND ${script} ${PROJECT_SOURCE_DIR}/${file} ${packed} COMMAND_ERROR_IS_FATAL ANY)
  tutti_embed_bytes(${module} ${packed} ${name})
endfunction()
