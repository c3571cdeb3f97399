// SPDX-License-Identifier: Apache-2.0
// The pure parts of a static copy: paths of addresses, links within markup, relative links, names of files; and its folder.
// (That a whole copy hangs together is tested in test/cli/site.sh.)
#include <sys/stat.h>

#include "scoreboard/site/site_inside.h"
#include "submit/format/copy_path.h"
#include "test/unit/test.h"

TEST(paths_of_addresses)
{
    static const char *const cases[][2] = {
        {"/", "/index.html"}, {"/runs/12", "/runs/12/index.html"}, {"/log", "/log/index.html"},
        {"/log?after=50", "/log/after=50.html"}, {"/style.css", "/style.css"}, {"/api.html", "/api.html"},
        {"/feed.atom", "/feed.atom"}, {"/boards/cifar10/feed.atom", "/boards/cifar10/feed.atom"},
        {"/boards/cifar10/training-time", "/boards/cifar10/training-time/index.html"},
        {"/boards/cifar10/training-time?rank=classic&sort=cost", "/boards/cifar10/training-time/rank=classic,sort=cost.html"},
        {"/boards/cifar10/training-time?hardware=~a%20b", "/boards/cifar10/training-time/hardware=@7ea@2520b.html"},
        {"/boards/cifar10/training-time.csv", "/boards/cifar10/training-time.csv"},
        {"/boards/cifar10/training-time.csv?trust=imported", "/boards/cifar10/training-time,trust=imported.csv"},
        {"/api/v1", "/api/v1.json"}, {"/api/v1/statements/12", "/api/v1/statements/12.json"},
        {"/api/v1/statements/12/signature", "/api/v1/statements/12/signature.txt"},
        {"/api/v1/statements?after=50", "/api/v1/statements,after=50.json"}, {"/api/v1/openapi.json", "/api/v1/openapi.json"},
        {"/log/checkpoint", "/log/checkpoint"}, {"/log/tile/0/x001/000.p/5", "/log/tile/0/x001/000.p/5"},
        {"/people/bob.csv", "/people/bob.csv/index.html"},
        {"/archive/CIFAR10/train/a.b", "/archive/CIFAR10/train/a.b/index.html"},
        {"/search?", "/search/index.html"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text path = {0};
        copy_path(cases[i][0], &path);
        assert_string_equal(path.at, cases[i][1]);
        text_free(&path);
    }
    struct text address = {0}, path = {0};
    text_add(&address, "/log?x=");
    for (int i = 0; i < 300; i++) text_add(&address, "y");
    copy_path(address.at, &path);
    assert_int_equal(path.length, strlen("/log/q=.html") + 64);
    text_free(&address);
    text_free(&path);
}

static void assert_relative(const char *from, const char *to, const char *link)
{
    struct text text = {0};
    site_relative(from, to, &text);
    assert_string_equal(text.at, link);
    text_free(&text);
}

TEST(relative_links)
{
    assert_relative("/index.html", "/style.css", "style.css");
    assert_relative("/runs/12/index.html", "/style.css", "../../style.css");
    assert_relative("/runs/12/index.html", "/runs/13/index.html", "../13/index.html");
    assert_relative("/runs/12/index.html", "/runs/12/index.html", "index.html");
    assert_relative("/a/b.html", "/ab/c.html", "../ab/c.html");
}

static void assert_leads(const char *value, const char *to, bool whole)
{
    struct text text = {0};
    bool absolute;
    site_address_of(value, strlen(value), "/people?q=1", "https://ann.example/board", &text, &absolute);
    assert_string_equal(text.at, to);
    assert_int_equal(absolute, whole);
    text_free(&text);
}

TEST(links_of_a_page)
{
    static const char page[] = "<link href=\"/style.css\"><a class=\"x\" href=\"/boards?a=1&amp;b=2#c\">href=&quot;/no&quot;</a>"
                               "<script src=\"/script.js\"></script><a href=\"https://else\">x</a><a href=\"";
    struct site_link link;
    size_t at = 0;
    int count = 0;
    for (; site_next_link(page, sizeof page - 1, &at, &link); count++)
        if (count == 2) assert_memory_equal(page + link.begin, " src=\"/script.js\"", link.end - link.begin);
    assert_int_equal(count, 4);
    assert_leads("/boards?a=1&amp;b=2#c", "/boards?a=1&b=2#c", false);
    assert_leads("https://ann.example/board/runs/1", "/runs/1", true);
    assert_leads("https://ann.example/board", "/", true);
    assert_leads("https://ann.example/boards", "", false);
    assert_leads("//else/x", "", false);
    assert_leads("#here", "", false);
    assert_leads("?before=3", "/people?before=3", false);
    assert_true(site_is_followed("/log"));
    assert_true(site_is_followed("/log?after=3"));
    assert_true(site_is_followed("/boards/a/b?sort=cost&cursor=3"));
    assert_true(site_is_followed("/boards/a/b?rank=group&trust=signed"));
    assert_false(site_is_followed("/boards/a/b?rank=group&sort=cost"));
    assert_false(site_is_followed("/boards/a/b?mycursor=3"));
}

TEST(names_of_files)
{
    static const char *const bad[] = {"", "a", "//a", "/a/../b", "/a/./b", "/%2e%2e/b", "/a%2fb", "/a%00b", "/a\\b", "/a%0ab"};
    struct text name = {0};
    assert_true(site_file_name("/people/a%2Bb/index.html", &name));
    assert_string_equal(name.at, "/people/a+b/index.html");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        text_free(&name);
        name = (struct text){0};
        assert_false(site_file_name(bad[i], &name));
    }
    text_free(&name);
}

// A folder that has the name of the unfinished copy, as a killed program leaves it, is neither used nor removed.
TEST(folder_of_another)
{
    char folder[] = "/tmp/dawn-test-XXXXXX", copy[64], other[96];
    struct site_folder f;
    struct stat info;
    assert_non_null(mkdtemp(folder));
    snprintf(copy, sizeof copy, "%s/site", folder);
    snprintf(other, sizeof other, "%s.%ld.part", copy, (long)getpid());
    assert_int_equal(mkdir(other, 0777), 0);
    assert_int_equal(site_folder_begin(&f, copy), 0);
    assert_string_not_equal(f.part, other);
    assert_int_equal(stat(f.part, &info), 0);
    site_folder_end(&f);
    assert_int_equal(rmdir(other), 0);
    assert_int_equal(rmdir(folder), 0);  // nothing else is left
}
