/* Colours have a contrast of 4.5 and more against what they stand on (letters), 3 and more (marks), in light and dark. */
#include "host/report_html_parts.h"

/* The variants' colours are those of Okabe and Ito, which people with any colour vision tell apart, made darker or lighter. */
static const char style[] =
":root{color-scheme:light dark;--page:#fff;--ink:#1c1c1c;--soft:#555;--line:#c9c9c9;--panel:#f4f4f2;--grid:#dedede;--band:#e9eef5;"
"--good:#00603f;--bad:#a02800;--even:#345;--open:#5b4a00;--stop:#8c0040;"
"--v0:#0069a8;--v1:#c64a00;--v2:#007355;--v3:#9c3f78;--v4:#7a5c00;--v5:#4d4d4d}\n"
"@media (prefers-color-scheme:dark){:root{--page:#161618;--ink:#ececec;--soft:#b0b0b0;--line:#48484c;--panel:#222226;"
"--grid:#38383d;--band:#2a3340;--good:#58d6a0;--bad:#ff9d72;--even:#b9cce0;--open:#eace5e;--stop:#ff8fb8;"
"--v0:#62b8f0;--v1:#ff9450;--v2:#35c99c;--v3:#e59bca;--v4:#ecc94b;--v5:#c4c4c4}}\n"
"*{box-sizing:border-box}\n"
"html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
"body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.45 system-ui,sans-serif}\n"
"main{max-width:76rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}\n"
"h1{font-size:1.5rem;margin:.2em 0 .6em}h2{font-size:1.2rem;margin:2em 0 .6em;border-bottom:1px solid var(--line)}"
"h3{font-size:1.05rem;margin:1.4em 0 .5em}h4{font-size:.95rem;margin:.3em 0;font-weight:600}\n"
"p{margin:.5em 0;max-width:70rem}.soft,figcaption{color:var(--soft);font-size:.9rem}\n"
".headline{font-size:1.15rem;font-weight:600}\n"
"ul.verdicts{list-style:none;padding:0;margin:.4em 0 1.2em}ul.verdicts li{padding:.35em 0;border-bottom:1px solid var(--line)}\n"
".badge{display:inline-block;border:1.5px solid currentColor;border-radius:.3em;padding:0 .45em;margin-right:.4em;"
"font-weight:600;font-size:.9rem;white-space:nowrap}\n"
".better{color:var(--good)}.worse{color:var(--bad)}.same{color:var(--even)}.unclear{color:var(--open)}.other{color:var(--stop)}\n"
".note{border-left:.3em solid var(--open);background:var(--panel);padding:.5em .8em;margin:.6em 0}\n"
".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:1rem}\n"
"figure{margin:0;max-width:34rem;break-inside:avoid}svg{display:block;width:100%;height:auto;color:var(--ink);"
"font-family:system-ui,sans-serif}\n"
".legend{list-style:none;padding:0;margin:.5em 0;display:flex;flex-wrap:wrap;gap:.2em 1.2em}\n"
".v0{color:var(--v0)}.v1{color:var(--v1)}.v2{color:var(--v2)}.v3{color:var(--v3)}.v4{color:var(--v4)}.v5{color:var(--v5)}\n"
".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem;margin:.4em 0;width:100%}\n"
"th,td{text-align:right;padding:.3em .6em;border-bottom:1px solid var(--line);vertical-align:top;"
"font-variant-numeric:tabular-nums}th{font-weight:600}\n"
"th[scope=row],th.l,td.l{text-align:left}\n"
/* numbers and heads stay whole beside a name of any length, which is broken instead; labels stand out from the grid */
"@media (min-width:44.01rem){th,td{white-space:nowrap}th[scope=row],td.l{white-space:normal;min-width:7rem}}\n"
"svg text{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}\n"
"dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.3em 1em;margin:.4em 0}dt{color:var(--soft)}"
"dd{margin:0}dl.deeper{margin:.2em 0 .8em 1rem}\n"
"pre{background:var(--panel);padding:.7em;overflow-x:auto;overflow-wrap:normal;font-size:.85rem;line-height:1.35;margin:.5em 0}\n"
"details{margin:.4em 0}summary{cursor:pointer;padding:.35em 0}\n"
/* a table's row becomes a card: nothing has to be scrolled sideways on a phone */
"@media (max-width:44rem){thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
"table,tbody,tr,th[scope=row],td{display:block}tr{border-bottom:1px solid var(--line);padding:.4em 0}"
"th[scope=row],td{border:0;padding:.1em 0}td{display:flex;justify-content:space-between;gap:1em;text-align:right}"
"td.l{text-align:right}td::before{content:attr(data-l);color:var(--soft);text-align:left}"
"dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5em}}\n"
"@media print{:root{--page:#fff;--ink:#000;--soft:#333;--line:#999;--panel:#fff;--grid:#ccc;--band:#e6e6e6;--good:#00603f;"
"--bad:#a02800;--even:#345;--open:#5b4a00;--stop:#8c0040;--v0:#0069a8;--v1:#c64a00;--v2:#007355;--v3:#9c3f78;--v4:#7a5c00;"
"--v5:#4d4d4d}body{font-size:9.5pt}main{max-width:none;padding:0}.charts{grid-template-columns:1fr 1fr}"
"pre{white-space:pre-wrap;border:1px solid #999}tr,figure,li{break-inside:avoid}h2,h3,h4{break-after:avoid}"
"details::details-content{content-visibility:visible;display:block}}\n";

void html_style(struct text *out)
{
	text_add_bytes(out, style, sizeof(style) - 1);
}
