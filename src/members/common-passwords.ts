/**
 * Those of the 20,000 most used passwords that are long enough to be taken here, from the list that Django ships, which
 * Royce Williams made of passwords that have leaked.
 */
export const commonPasswords: ReadonlySet<string> = wordsOf(`
  q1w2e3r4t5y6 1qaz2wsx3edc sojdlg123aljg pe#5gz29ptzmse 111222tianya 1q2w3e4r5t6y startfinding
  qwerty123456 123qweasdzxc 123456qwerty n8zgt5p0shw= megaparol12345 123456654321 megaparol12345
  telechargement 123456123456 yfdbufnjh10305070 qazwsxedcrfv g13916055158 1q2w3e4r5t6y7u8i9o0p
  123456789123 qwertyqwerty 112233445566 justinbieber 123456789987654321 qweasdzxc123
  123456789123456789 maprchem56458 5532361cnjqrf qwertyuiop[] qazwsxedc123 password1234
  international temppassword 1q2w3e4r5t6y7u professional 0r968ji9ufj6 jundian2011xr qwertyuiop123
  qwerasdfzxcv leavemealone finalfantasy 123456789abc administrator 123qwe123qwe zxcasdqwe123
  demon1q2w3e4r jamesbond007 asdfghjkl123 demon1q2w3e4r5t projectsadminx ichliebedich
  playstation3 123456789qwe sonyericsson 1qazxsw23edc john!20130605at1753 linkedin2011
  1q2w3e4r5t6y7u8i ihatethisgame s8ylpe9jdpvym 123123123123 123321123321 111111111111
  qwegta13091990 123456789asd doomsayer.2.7mords.v seniseviyorum 010203040506 onedirection
  transformers 1q2w3e4r5t6y7u8i9o doomsayer.2.7mords.vv supernatural gfhjkmgfhjkm sonnenschein
  password12345 peanutbutter 12345678900987654321 1qaz2wsx3edc4rfv qwertyuiop12 needforspeed
  1234567890-= migrationschool 1234567891011 lovelovelove liverpool123 xtseo2011tdx playstation2
  gettherefast ??????@mail.ru internazionale 123456789123456 102030405060 combat123654
  abc123456789 ingodwetrust 12345678901234567890 qwertyasdfgh christopher1 sdf7asdf6asdg8df
  ghhh47hj7649 1234567890qwertyuiop zmx870919123 inactive1996aug lydcc20091314 jesuslovesme
  avrillavigne ilovemyfamily counterstrike 159753159753 stratocaster qwertyytrewq dfg5fhg5vgfh1
  1234567891234567 123admin321a 123456789qwerty googletester temppassword hawkesbury93
  qazwsxedcrfvtgb q1w2e3r4t5y6u7i8o9p0 imyaimyaimya qazxswedcvfr yemi19900911 password123456
  123456789qaz jkiuztdftl57 xantria10315 starwarsfan10 hannahmontana familiyafamiliya
  vitor1268123 m01759766727 123456789101112 weronika1992 1234567890123 12345678987654321
  neworleans12345 cookiemonster qwerty123456789 natiichen999 000000000000 ghbdtnrfrltkf
  520love101182 111111111111111 kartoffelpuffer lightpower12345 stefangreil1983 total12scherz
  edwardcullen qwe123qwe123 cosmopolitan somanypickles27 michaeljackson zaq1xsw2cde3 minecraft123
  leliane50934 moderncombat marek14michal przyjaciolki laurel12creek residentevil yandi20080527
  ezekiel11991 123456789000 arabella24630 heterosexual manchesterunited sebastian106
  knackwurst8853 1234567890987654321 fallen_angel
`);

/** Words that become no good password by digits and signs around them, nor by being repeated. */
export const commonWords: ReadonlySet<string> = wordsOf(`
  access admin administrator andrew asdfghjkl askback autumn azerty banana baseball batman
  bonjour changeme charlie cheese computer contrasena cookie default
  dragon facebook february feedback flower football freedom friday geheim george ginger google
  guest hallo hello helloworld hockey hunter iloveyou internet january jennifer jordan killer
  letmein linkedin login lovely loveyou master matrix michael monday monkey motdepasse mypassword
  orange parola passw password passwort pepper princess purple qwerty qwertyuiop qwertz root
  samsung secret shadow silver soccer spring starwars summer sunshine superman survey temp
  temppassword test testing thepassword trustno user username welcome whatever willkommen winter
  zxcvbnm
`);

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
