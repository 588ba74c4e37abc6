# Rules that other projects include.
cmake_minimum_required(VERSION 3.20)
project(shop VERSION 1.2 LANGUAGES C CXX)

include(GNUInstallDirs)

# Where plugins go.
set(SHOP_PLUGIN_DIR "${CMAKE_INSTALL_LIBDIR}/shop" CACHE PATH "Plugin directory")
set(SOURCES
    main.c
    cart.c)
option(SHOP_WITH_TESTS "Build the tests" ON)

#[[ Adds one plugin.
    Arguments: its name, then its sources. ]]
function(shop_add_plugin name)
  cmake_parse_arguments(ARG "SHARED" "FOLDER" "LIBS" ${ARGN})
  set(target shop_${name})
  if(ARG_SHARED)
    add_library(${target} SHARED ${ARG_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# Sets a variable up one level.
macro(shop_export variable value)
  set(${variable} ${value} PARENT_SCOPE)
endmacro()

FUNCTION("shop_shout" text)
  MESSAGE(STATUS "${text}!")
ENDFUNCTION()

add_library(shop STATIC ${SOURCES})
target_link_libraries(shop PUBLIC m)
add_executable(shop-cli
  cli.c)

if(SHOP_WITH_TESTS)
  set(TEST_SOURCES test_cart.c)
  ADD_EXECUTABLE(shop-tests ${TEST_SOURCES})
  add_test(NAME all COMMAND shop-tests)
  foreach(case IN ITEMS a b)
    set(case_target ${case})
    add_custom_target(run-${case} COMMAND shop-tests ${case})
  endforeach()
elseif(WIN32)
  cmake_dependent_option(SHOP_MSI "Build an installer" OFF "WIN32" OFF)
endif()

install(TARGETS shop shop-cli)
