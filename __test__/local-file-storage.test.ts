// What a storage does to the file system, and what a file system can do to it.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { hasEnded, runScript, startProgram } from './child-program.js'
import { nativeStorage, sdkStorage, storages } from './implementations.js'
import { scratchDirectory, smallDisk } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

vi.setConfig({ testTimeout: 60_000 })

const TWO_HOURS_AGO = new Date(Date.now() - 2 * 60 * 60 * 1000)

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

const makeOld = (path: string): void => utimesSync(path, TWO_HOURS_AGO, TWO_HOURS_AGO)

describe.each(storages)('%s LocalFileStorage', (who, { LocalFileStorage }) => {
  it('maps each key onto a file below its base directory', async () => {
    const root = scratchDirectory()
    const storage = new LocalFileStorage(root)
    await storage.write('a/b.json', encode('[]'))
    expect(readFileSync(join(root, 'a/b.json'), 'utf8')).toBe('[]')
    mkdirSync(join(root, 'by'))
    writeFileSync(join(root, 'by/hand'), 'text')
    expect(await storage.list('')).toEqual(['a/b.json', 'by/hand'])
    expect(decode(await storage.read('by/hand'))).toBe('text')
  })

  it('creates nothing until the first write', async () => {
    const root = join(scratchDirectory(), 'not/yet')
    const storage = new LocalFileStorage(root)
    expect(await storage.list('')).toEqual([])
    expect(await storage.read('a')).toBeNull()
    await storage.delete('a')
    expect(existsSync(join(root, '..'))).toBe(false)
    await storage.write('a', encode('v'))
    expect(readdirSync(root)).toEqual(['a'])
  })

  it('fails to write a key that ends in a dot segment, as that names a directory', async () => {
    const storage = new LocalFileStorage(scratchDirectory())
    for (const key of ['.', './', 'a/.']) {
      expect(await rejectionOf(storage.write(key, encode('v')))).toMatchObject({ name: 'StorageError' })
    }
    expect(await storage.list('')).toEqual([])
  })

  it('leaves nothing beside the files of its keys', async () => {
    const root = scratchDirectory()
    const storage = new LocalFileStorage(root)
    for (let round = 0; round < 20; round += 1) await storage.write('a', encode(`${round}`))
    await Promise.all(Array.from({ length: 20 }, (_, n) => storage.write('b', encode(`${n}`))))
    expect(readdirSync(root)).toEqual(['a', 'b'])
  })

  it('follows the working directory where its base directory is relative', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'one'))
    mkdirSync(join(root, 'two'))
    const seen = await runScript(`
      const { LocalFileStorage } = await load('${who}')
      const storage = new LocalFileStorage('./kept')
      process.chdir(${JSON.stringify(join(root, 'one'))})
      await storage.write('k', new Uint8Array(1))
      process.chdir(${JSON.stringify(join(root, 'two'))})
      console.log(JSON.stringify(await storage.list('')))
    `)
    expect(seen).toEqual([])
    expect(readdirSync(join(root, 'one/kept'))).toEqual(['k'])
  })

  it('says that a value is missing below a file, as below nothing', async () => {
    const root = scratchDirectory()
    const storage = new LocalFileStorage(root)
    await storage.write('file', encode('v'))
    expect(await storage.read('file/below')).toBeNull()
    expect(await storage.list('file/')).toEqual([])
  })

  it('fails to write below a file or over a directory, and leaves both alone', async () => {
    const root = scratchDirectory()
    const storage = new LocalFileStorage(root)
    await storage.write('file', encode('v'))
    await storage.write('directory/inside', encode('v'))
    expect(await rejectionOf(storage.write('file/below', encode('w')))).toMatchObject({
      name: 'StorageError',
      message: "Failed to write 'file/below' to local storage",
    })
    expect(await rejectionOf(storage.write('directory', encode('w')))).toMatchObject({
      name: 'StorageError',
      message: "Failed to write 'directory' to local storage",
      cause: { code: 'EISDIR' },
    })
    expect(await rejectionOf(storage.read('directory'))).toMatchObject({
      name: 'StorageError',
      message: "Failed to read 'directory' from local storage",
      cause: { code: 'EISDIR' },
    })
    expect(await rejectionOf(storage.delete('directory'))).toMatchObject({
      name: 'StorageError',
      message: "Failed to delete 'directory' from local storage",
      // The SDK hands on a code of Node's own.
      cause: { code: who === 'native' ? 'EISDIR' : 'ERR_FS_EISDIR' },
    })
    expect(await storage.list('')).toEqual(['directory/inside', 'file'])
    expect(readdirSync(root)).toEqual(['directory', 'file'])
  })

  it('names the key and the cause where the disk is full, and the old value stays whole', async () => {
    const disk = smallDisk()
    const root = disk ?? scratchDirectory()
    const old = 'old value '.repeat(2_000)
    const result = await runScript(
      `
      import { readdirSync } from 'node:fs'
      const { LocalFileStorage } = await load('${who}')
      const storage = new LocalFileStorage(${JSON.stringify(root)})
      await storage.write('k', new TextEncoder().encode(${JSON.stringify(old)}))
      const failed = await outcome(storage.write('k', new Uint8Array(2_000_000)))
      const value = new TextDecoder().decode(await storage.read('k'))
      console.log(JSON.stringify({ failed, value, files: readdirSync(${JSON.stringify(root)}) }))
      `,
      // Where no disk can be mounted, a limit on the size of files makes the same write fail.
      disk === null ? { ulimit: '-f 64' } : {},
    )
    const failed = {
      rejected: 'StorageError',
      message: "Failed to write 'k' to local storage",
      code: disk === null ? 'EFBIG' : 'ENOSPC',
    }
    expect(result).toEqual({ failed, value: old, files: ['k'] })
  })

  it('reports a file that grows beyond the size limit, and leaves no part of it', async () => {
    const root = scratchDirectory()
    const result = await runScript(
      `
      import { readdirSync } from 'node:fs'
      const { LocalFileStorage } = await load('${who}')
      const storage = new LocalFileStorage(${JSON.stringify(root)})
      const failed = await outcome(storage.write('k', new Uint8Array(2_000_000)))
      console.log(JSON.stringify({ failed, files: readdirSync(${JSON.stringify(root)}) }))
      `,
      { ulimit: '-f 64' },
    )
    const failed = { rejected: 'StorageError', message: "Failed to write 'k' to local storage", code: 'EFBIG' }
    expect(result).toEqual({ failed, files: [] })
  })

  it('reports what the user may not do, and does not take it for a missing value', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'closed'))
    writeFileSync(join(root, 'closed/k'), 'v')
    writeFileSync(join(root, 'secret'), 'v')
    chmodSync(join(root, 'secret'), 0o000)
    chmodSync(join(root, 'closed'), 0o000)
    chmodSync(root, 0o555)
    const result = await runScript(`
      const { LocalFileStorage } = await load('${who}')
      const storage = new LocalFileStorage(${JSON.stringify(root)})
      dropRights()
      console.log(JSON.stringify([
        await outcome(storage.write('new', new Uint8Array(1))),
        await outcome(storage.write('new/below', new Uint8Array(1))),
        await outcome(storage.read('secret')),
        await outcome(storage.read('closed/k')),
        await outcome(storage.delete('secret')),
        await outcome(storage.list('')),
      ]))
    `)
    chmodSync(root, 0o755)
    chmodSync(join(root, 'closed'), 0o755)
    const denied = (message: string) => ({ rejected: 'StorageError', message, code: 'EACCES' })
    expect(result).toEqual([
      denied("Failed to write 'new' to local storage"),
      denied("Failed to write 'new/below' to local storage"),
      denied("Failed to read 'secret' from local storage"),
      denied("Failed to read 'closed/k' from local storage"),
      denied("Failed to delete 'secret' from local storage"),
      denied("Failed to list local storage under 'closed'"),
    ])
    expect(readdirSync(root)).toEqual(['closed', 'secret'])
  })

  it('creates files and directories with what the umask leaves', async () => {
    const root = scratchDirectory()
    await runScript(`
      const { LocalFileStorage } = await load('${who}')
      const storage = new LocalFileStorage(${JSON.stringify(root)})
      process.umask(0o077)
      await storage.write('private/k', new Uint8Array(1))
      process.umask(0o022)
      await storage.write('shared/k', new Uint8Array(1))
      console.log('null')
    `)
    const modes = ['private', 'private/k', 'shared', 'shared/k'].map((path) => modeOf(join(root, path)))
    expect(modes).toEqual(['700', '600', '755', '644'])
  })

  it('rejects a name of 256 bytes and a path of over 4,096, in every operation', async () => {
    const storage = new LocalFileStorage(scratchDirectory())
    const tooLong = { name: 'StorageError', cause: { code: 'ENAMETOOLONG' } }
    for (const key of ['n'.repeat(256), 'é'.repeat(128), `${'directory/'.repeat(450)}k`]) {
      expect(await rejectionOf(storage.write(key, encode('v')))).toMatchObject(tooLong)
      expect(await rejectionOf(storage.read(key))).toMatchObject(tooLong)
      expect(await rejectionOf(storage.delete(key))).toMatchObject(tooLong)
      expect(await rejectionOf(storage.list(`${key}/`))).toMatchObject(tooLong)
    }
    expect(await storage.list('')).toEqual([])
  })

  it('tells NFC from NFD: what it lists can be read and deleted', async () => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'cafe\u0301'), 'decomposed')
    const storage = new LocalFileStorage(root)
    await storage.write('caf\u00e9', encode('composed'))
    const keys = await storage.list('')
    expect(keys).toEqual(['cafe\u0301', 'caf\u00e9'])
    expect((await Promise.all(keys.map((key) => storage.read(key)))).map(decode)).toEqual(['decomposed', 'composed'])
    for (const key of keys) await storage.delete(key)
    expect(readdirSync(root)).toEqual([])
  })

  it('goes through a symbolic link to a directory, and lists the link itself as a key', async () => {
    const outside = scratchDirectory()
    const root = scratchDirectory()
    symlinkSync(outside, join(root, 'link'))
    const storage = new LocalFileStorage(root)
    await storage.write('link/k', encode('v'))
    expect(readFileSync(join(outside, 'k'), 'utf8')).toBe('v')
    expect(decode(await storage.read('link/k'))).toBe('v')
    expect(await storage.list('')).toEqual(['link'])
    expect(await storage.list('link/')).toEqual(['link/k'])
    await storage.delete('link/k')
    expect(readdirSync(outside)).toEqual([])
  })

  it('deletes a symbolic link, and not the file behind it', async () => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'target'), 'v')
    symlinkSync('target', join(root, 'link'))
    await new LocalFileStorage(root).delete('link')
    expect(readdirSync(root)).toEqual(['target'])
  })

  it('hides scratch files of either SDK from its listing', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'sub'))
    for (const name of ['.__strands_tmp_1', 'k.__strands_tmp_2', 'sub/.__strands_tmp_3'])
      writeFileSync(join(root, name), '')
    writeFileSync(join(root, 'k'), 'v')
    expect(await new LocalFileStorage(root).list('')).toEqual(['k'])
  })

  it('goes on while a read waits for its file', async () => {
    // A named pipe makes a read wait; were that on the JavaScript thread, the line that fills the pipe would never run.
    const root = scratchDirectory()
    expect(spawnSync('mkfifo', [join(root, 'pipe')]).status).toBe(0)
    const read = new LocalFileStorage(root).read('pipe')
    await sleep(20)
    await writeFile(join(root, 'pipe'), 'from the other end')
    expect(decode(await read)).toBe('from the other end')
  })
})

describe('the base directory', () => {
  it.each(['a//b/', '/', '//', '///', './.strands/', 'a///', 'a/b//c/', '.', './', 'a/b', '/x/', 'a/../b', 'ä/é/'])(
    'of native LocalFileStorage is that of the SDK for %j',
    (baseDir) => {
      const bases = (classes: typeof nativeStorage | typeof sdkStorage) => {
        const storage = new classes.LocalFileStorage(baseDir)
        return [storage.baseDir, (storage.namespace('q//r') as { baseDir?: string }).baseDir]
      }
      expect(bases(nativeStorage)).toEqual(bases(sdkStorage))
    },
  )

  it.each(storages)('of %s LocalFileStorage is ./.strands where none is given', (_, { LocalFileStorage }) => {
    expect(new LocalFileStorage().baseDir).toBe('./.strands')
    expect(new LocalFileStorage(undefined).baseDir).toBe('./.strands')
  })

  it.each(storages)(
    'of a namespace is the directory below, in a %s LocalFileStorage again',
    (_, { LocalFileStorage }) => {
      const view = new LocalFileStorage('/base').namespace('q/')
      expect(view).toBeInstanceOf(LocalFileStorage)
      expect((view as { baseDir?: string }).baseDir).toBe('/base/q')
    },
  )

  it.each(storages)('of %s LocalFileStorage cannot be anything but a string', (_, { LocalFileStorage }) => {
    expect(() => new LocalFileStorage(5 as unknown as string)).toThrow(TypeError)
    expect(() => new LocalFileStorage(null as unknown as string)).toThrow(TypeError)
  })
})

describe('native LocalFileStorage, unlike the SDK,', () => {
  const { LocalFileStorage } = nativeStorage

  // The SDK takes it for the root of the file system.
  it('refuses an empty base directory', () => {
    expect(() => new LocalFileStorage('')).toThrow('baseDir must not be empty')
  })

  // The SDK replaces the link by a file of its own. CONTRACT.md: a symlinked file is written through.
  it('writes through a symbolic link, however many there are', async () => {
    const [outside, root] = [scratchDirectory(), scratchDirectory()]
    writeFileSync(join(outside, 'target'), 'old')
    symlinkSync('target', join(outside, 'second'))
    symlinkSync(join(outside, 'second'), join(root, 'first'))
    await new LocalFileStorage(root).write('first', encode('new'))
    expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('new')
    expect([readlinkSync(join(root, 'first')), readlinkSync(join(outside, 'second'))]).toEqual([
      join(outside, 'second'),
      'target',
    ])
    expect([readdirSync(root), readdirSync(outside)]).toEqual([['first'], ['second', 'target']])
  })

  it('creates the file that a dangling link points to', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'sub'))
    symlinkSync('sub/target', join(root, 'link'))
    const storage = new LocalFileStorage(root)
    expect(await storage.read('link')).toBeNull()
    await storage.write('link', encode('v'))
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(root, 'sub/target'), 'utf8')).toBe('v')
  })

  it('reports a link that leads back to itself', async () => {
    const root = scratchDirectory()
    symlinkSync('loop', join(root, 'loop'))
    const storage = new LocalFileStorage(root)
    const looped = { name: 'StorageError', cause: { code: 'ELOOP' } }
    expect(await rejectionOf(storage.read('loop'))).toMatchObject(looped)
    expect(await rejectionOf(storage.write('loop', encode('v')))).toMatchObject(looped)
    expect(readdirSync(root)).toEqual(['loop'])
  })

  // The SDK gives the file the mode of a new one, and so opens a private file to everybody.
  it.each(['600', '640', '444', '777', '755'])('keeps the permission bits %s of an existing file', async (mode) => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'k'), 'old')
    chmodSync(join(root, 'k'), Number.parseInt(mode, 8))
    await new LocalFileStorage(root).write('k', encode('new'))
    expect(readFileSync(join(root, 'k'), 'utf8')).toBe('new')
    expect(modeOf(join(root, 'k'))).toBe(mode)
  })

  // The SDK's scratch name is 51 bytes longer than the key's.
  it('writes a name of 255 bytes', async () => {
    const storage = new LocalFileStorage(scratchDirectory())
    for (const key of ['n'.repeat(255), `${'é'.repeat(127)}n`, `sub/${'x'.repeat(255)}`]) {
      await storage.write(key, encode('v'))
      expect(decode(await storage.read(key))).toBe('v')
    }
    expect(await storage.list('')).toHaveLength(3)
  })

  // CONTRACT.md: these names belong to the package; the search index of the Python SDK is one of them.
  it('hides every file whose name begins with .__strands_', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'sub'))
    for (const name of ['.__strands_memory-fts5.sqlite', 'sub/.__strands_x']) writeFileSync(join(root, name), 'apple')
    writeFileSync(join(root, '.hidden'), 'of the user')
    const storage = new LocalFileStorage(root)
    expect(await storage.list('')).toEqual(['.hidden'])
    expect(await storage.list('.__strands_')).toEqual([])
    expect(await storage.search('apple')).toEqual([])
  })

  it('copes with a file whose name is not UTF-8', async () => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'good'), 'v')
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.of(0xff)]), 'v')
    const storage = new LocalFileStorage(root)
    expect(await storage.list('g')).toEqual(['good'])
    expect(await storage.list('')).toContain('good')
    expect((await storage.search('v')).map(({ key }) => key)).toContain('good')
  })

  it('sweeps an orphaned scratch file when it is an hour old, and no younger one', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'sub'))
    const storage = new LocalFileStorage(root)
    const [old, young] = [join(root, 'sub', await orphan(join(root, 'sub'))), join(root, await orphan(root))]
    makeOld(old)
    expect(await storage.list('')).toEqual([])
    expect([existsSync(old), existsSync(young)]).toEqual([false, true])
  })

  it('sweeps before it writes', async () => {
    const root = scratchDirectory()
    const [old, young] = [join(root, await orphan(root)), join(root, await orphan(root))]
    makeOld(old)
    await new LocalFileStorage(root).write('k', encode('v'))
    expect([existsSync(old), existsSync(young)]).toEqual([false, true])
  })

  it('never sweeps what is not a scratch file, however old', async () => {
    const root = scratchDirectory()
    const names = ['.__strands_memory-fts5.sqlite', '.hidden', 'k', 'notes.__strands_tmp', 'tmp_x']
    for (const name of names) {
      writeFileSync(join(root, name), 'v')
      makeOld(join(root, name))
    }
    mkdirSync(join(root, '.__strands_tmp_directory'))
    makeOld(join(root, '.__strands_tmp_directory'))
    const storage = new LocalFileStorage(root)
    await storage.list('')
    await storage.write('k', encode('w'))
    expect(readdirSync(root).sort()).toEqual([...names, '.__strands_tmp_directory'].sort())
  })

  it('leaves a whole value when it is killed, again and again, while it writes', async () => {
    const root = scratchDirectory()
    const size = 8_000_000
    for (let round = 0; round < 8; round += 1) {
      const writer = startProgram('write-until-killed.mjs', [root, 'k', String(size)])
      // Let it finish a few writes, then kill it with a scratch file open.
      await new Promise((resolve) => writer.stdout.once('data', resolve))
      while (!readdirSync(root).some((name) => name.startsWith('.__strands_tmp_'))) await sleep(0)
      writer.kill('SIGKILL')
      while (!hasEnded(writer)) await sleep(1)
      const value = readFileSync(join(root, 'k'))
      expect(value.length).toBe(size)
      expect(value.equals(Buffer.alloc(size, value[0]))).toBe(true)
    }
    const storage = new LocalFileStorage(root)
    expect(await storage.list('')).toEqual(['k'])
    await storage.write('k', encode('goes on'))
    expect(decode(await storage.read('k'))).toBe('goes on')
  })

  // The SDK opens every file of a burst at once.
  it('makes do with 128 file descriptors for 20,000 files', async () => {
    const root = scratchDirectory()
    for (let n = 0; n < 20_000; n += 1) {
      if (n % 100 === 0) mkdirSync(join(root, `d${n / 100}`))
      writeFileSync(join(root, `d${Math.floor(n / 100)}`, `f${n}`), n === 12_345 ? 'needle' : 'hay')
    }
    const result = await runScript(
      `
      const { LocalFileStorage } = await load('native')
      const storage = new LocalFileStorage(${JSON.stringify(root)})
      const keys = await storage.list('')
      const values = await Promise.all(keys.slice(0, 5_000).map((key) => storage.read(key)))
      const written = await Promise.all(keys.slice(0, 2_000).map((key) => storage.write('w/' + key, new Uint8Array(3))))
      const found = (await storage.search('needle')).map(({ key }) => key)
      console.log(JSON.stringify([keys.length, values.filter((value) => value !== null).length, written.length, found]))
      `,
      { ulimit: '-n 128' },
    )
    expect(result).toEqual([20_000, 5_000, 2_000, ['d123/f12345']])
  })
})

/** Leaves a scratch file in `directory`, as a killed process does, and gives its name. */
async function orphan(directory: string): Promise<string> {
  const before = new Set(readdirSync(directory))
  const writer = startProgram('write-until-killed.mjs', [directory, 'orphan-maker', '64000000'])
  try {
    for (;;) {
      const name = readdirSync(directory).find((name) => name.startsWith('.__strands_tmp_') && !before.has(name))
      if (name !== undefined) {
        writer.kill('SIGKILL')
        while (!hasEnded(writer)) await sleep(1)
        if (existsSync(join(directory, name))) return name
        return await orphan(directory)
      }
      if (hasEnded(writer)) throw new Error('the writer ended before it was killed')
      await sleep(0)
    }
  } finally {
    writer.kill('SIGKILL')
    rmSync(join(directory, 'orphan-maker'), { force: true })
  }
}
