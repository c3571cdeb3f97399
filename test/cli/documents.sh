#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The documents of a scoreboard's pages: the part of Markdown that they use, as HTML, with all text escaped.
set -eu

becomes() { # HTML: what document.py makes of standard input
    cat >document.md
    python3 "$ROOT/scoreboard/pages/document.py" document.md >out
    printf '%s\n' "$1" | cmp -s - out && return 0
    echo "document.py:"
    diff <(printf '%s\n' "$1") out
}

printf '# A `b` *c*\n' | becomes '<h1>A <code>b</code> <em>c</em></h1>'
printf 'a\nb **c**\n\nd' | becomes $'<p>a b <strong>c</strong></p>\n<p>d</p>'
printf '<!-- no -->\nx\n' | becomes '<p>x</p>'
printf -- '- a\n  b\n- c\n\n1. d\n' | becomes $'<ul>\n<li>a b</li>\n<li>c</li></ul>\n<ol>\n<li>d</li></ol>'
printf '[r](rules.md) [s](docs/submit.md) [w](https://example.org/) [f](formats.md) [j](javascript:x)\n' |
    becomes '<p><a href="/rules">r</a> <a href="/submit">s</a> <a href="https://example.org/">w</a> f j</p>'
printf '[a](docs/record.md#x) [b](threats.md) [c](statements.mdx)\n' |
    becomes '<p><a href="/record#x">a</a> <a href="/threats">b</a> c</p>'
printf '<script> & "x" [a **b `c\n' | becomes '<p>&lt;script&gt; &amp; &quot;x&quot; [a **b `c</p>'
printf '## Groups: the *official* result\n## Groups: the official result\n' |
    becomes $'<h2 id="groups-the-official-result">Groups: the <em>official</em> result</h2>\n<h2>Groups: the official result</h2>'
printf 'a\n\n    b <c>\n\n      d\n\ne\n' | becomes '<p>a</p>
<pre tabindex="0" role="region" aria-label="Code"><code>b &lt;c&gt;

  d
</code></pre>
<p>e</p>'
printf '2 * 3 * 4\n' | becomes '<p>2 * 3 * 4</p>'
printf '| a | b |\n|---|--:|\n| `x \\| y` | <z> |\n\n```sh\n<code> *x*\n' |
    becomes '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table class="small"><thead><tr>'\
'<th scope="col">a</th><th scope="col">b</th></tr>
</thead><tbody>
<tr><td><code>x | y</code></td><td>&lt;z&gt;</td></tr>
</tbody></table></div>
<div class="command"><pre tabindex="0" role="region" aria-label="Code"><code>&lt;code&gt; *x*
</code></pre></div>'
